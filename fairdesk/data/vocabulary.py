"""Words by which protected attributes and outcomes are recognised. Suggestions only."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.split(","))


#: Words in a column's name that stand for a protected attribute ...
PROTECTED = _words(
    "age, ages, aged, older, younger, dob, birth, birthday, birthdate, birthyear, birthplace, "
    "sex, sexe, sexo, geschlecht, male, female, man, woman, men, women, "
    "race, races, racial, black, white, asian, hispanic, latino, latina, afam, caucasian, caste, "
    "tribe, faith, creed, married, marriage, spouse, veteran, language"
)
#: ... how such words begin ...
PROTECTED_STEMS = (
    *("ethnic", "gender", "racep", "religi", "nationali", "citizen", "immigra", "migra"),
    *("foreign", "marit", "disab", "handicap", "pregnan", "sexual", "politic", "genetic"),
)
#: ... and words that do so together only.
PROTECTED_TOGETHER = (
    *(("native", "country"), ("country", "origin"), ("national", "origin"), ("home", "country")),
    *(("skin", "color"), ("skin", "colour"), ("civil", "status"), ("family", "status")),
)
#: Beside one of these, an age or a colour is that of a thing.
THINGS = _words("account, car, vehicle, house, building, property, company, credit, loan, product")

#: Values of protected attributes, in lower case; two of a line make a column look like one ...
VALUES_OF_PROTECTED = (
    _words("male, female, man, woman, men, women, non-binary, nonbinary, diverse"),
    _words(
        "african-american, african american, black, white, asian, asian-pac-islander, caucasian, "
        "hispanic, latino, latina, latinx, native american, american indian, amer-indian-eskimo, "
        "pacific islander, afam, cauc"
    ),
    _words(
        "christian, muslim, jewish, hindu, buddhist, sikh, atheist, catholic, protestant, "
        "orthodox, christianity, islam, judaism, hinduism, buddhism"
    ),
    _words("married, single, divorced, widowed, separated, never-married, never married"),
)
#: ... but for these, which are also colours of cars.
COLOURS = _words("black, white")

#: Names of decisions and outcomes, written without spaces and signs; the surer ones first.
LABELS = _words(
    "label, target, class, y, outcome, decision, approved, approval, survived, hired, granted, "
    "accepted, admitted, loanstatus, creditrisk, creditrating"
)
PERHAPS_LABELS = _words(
    "income, credit, result, response, recid, recidivism, twoyearrecid, 2yearrecid, "
    "twoyrrecidivism, risk, callback, call, passbar, passed, churn, churned, toxic, diabetes, "
    "default, status"
)
#: Names of what belongs to the making of a table, not to the people.
SURVEY = _words("split, fold, subset, partition, weight, fnlwgt")
#: Words for a weight in a column's name. One is that of a row in a sample with a word beside it ...
WEIGHTS = _words("weight, weights, wgt, wgts, wt, wts")
OF_SAMPLES = _words(
    "sample, survey, sampling, final, person, household, hh, population, pop, design, base, row, "
    "instance, case, observation, probability, inverse, replicate, analysis, frequency, freq"
)
#: ... or in one of the short forms that surveys use, written without spaces and signs.
SAMPLE_WEIGHTS = _words(
    "fnlwgt, afnlwgt, finlwgt, finalwgt, pwgtp, wgtp, perwt, hhwt, asecwt, marsupwt, wtfinl, "
    "earnwt, pweight, fweight, aweight, iweight, ipw, iptw, wtssall, wtssps, lnwtpert"
)
