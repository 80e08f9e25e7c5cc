from fairdesk.errors import DataError


def test_an_error_is_told_in_sentences():
    assert str(DataError("It broke.")) == "It broke."
    assert str(DataError("It broke.", remedy="Mend it.")) == "It broke. Mend it."


def test_other_programs_words_end_like_a_sentence_too():
    error = DataError("It broke.", why="It says: ValueError: bad shape", remedy="Mend it.")
    assert str(error) == "It broke. It says: ValueError: bad shape. Mend it."
    assert str(DataError("It broke.", why=" ")) == "It broke."
