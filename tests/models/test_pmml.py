"""PMML read as data: against scikit-learn's own answers, and the rules of the standard."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from fairdesk.audit.runs.inspection import Subject, inspect
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import ModelError
from fairdesk.models.detect import describe_format
from fairdesk.models.open import open_model
from fairdesk.models.pickles.contents import look_into

RNG = np.random.default_rng(8)
ROWS = np.column_stack([RNG.normal(40, 12, 500), RNG.random(500), RNG.integers(0, 4, 500)])
TWO = (ROWS[:, 0] / 40 + ROWS[:, 1] + RNG.normal(0, 0.2, 500) > 1.5).astype(int)
THREE = np.digitize(ROWS[:, 0] + 10 * ROWS[:, 2], [45, 65])


def _document(model, *, fields="", classes=(), derived="", header=""):
    """Write a document with the fields x0, x1, ... or others, and a target "y"."""
    if not fields:
        fields = "".join(
            f'<DataField name="x{i}" optype="continuous" dataType="double"/>' for i in range(3)
        )
    values = "".join(f'<Value value="{name}"/>' for name in classes)
    kind = ("categorical", "string") if classes else ("continuous", "double")
    return f"""<?xml version="1.0" encoding="UTF-8"?>{header}
<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4"><Header/>
<DataDictionary>{fields}<DataField name="y" optype="{kind[0]}" dataType="{kind[1]}">{values}
</DataField></DataDictionary>
<TransformationDictionary>{derived}</TransformationDictionary>{model}</PMML>"""


def _schema(*names, more="", target="y"):
    inner = "".join(f'<MiningField name="{name}"/>' for name in names)
    aimed = f'<MiningField name="{target}" usageType="target"/>' if target else ""
    return f"<MiningSchema>{aimed}{inner}{more}</MiningSchema>"


SINGLE = "".join(
    f'<DerivedField name="f{i}" optype="continuous" dataType="float"><FieldRef field="x{i}"/>'
    "</DerivedField>"
    for i in range(3)
)
X = ("x0", "x1", "x2")


def _node(tree, at, told, predicate="<True/>"):
    inner = ""
    if tree.children_left[at] >= 0:
        # scikit-learn rounds rows, not thresholds, to single precision
        single = np.float32(tree.threshold[at])
        if single > tree.threshold[at]:
            single = np.nextafter(single, np.float32(-np.inf))
        threshold = repr(float(single))
        for child, sign in (
            (tree.children_left[at], "lessOrEqual"),
            (tree.children_right[at], "greaterThan"),
        ):
            split = (
                f'<SimplePredicate field="f{tree.feature[at]}" operator="{sign}" '
                f'value="{threshold}"/>'
            )
            inner += _node(tree, child, told, split)
    return f"<Node {told(tree, at)[0]}>{predicate}{told(tree, at)[1]}{inner}</Node>"


def _shares(names):
    def told(tree, at):
        counts = tree.value[at][0]
        inner = "".join(
            f'<ScoreDistribution value="{name}" recordCount="{float(count)!r}"/>'
            for name, count in zip(names, counts, strict=True)
        )
        return f'score="{names[int(counts.argmax())]}"', inner

    return told


def _amount(scale=1.0):
    return lambda tree, at: (f'score="{float(tree.value[at][0, 0] * scale)!r}"', "")


def _tree(estimator, told, function, target="y"):
    return (
        f'<TreeModel functionName="{function}" splitCharacteristic="binarySplit">'
        f"{_schema(*X, target=target)}{_node(estimator.tree_, 0, told)}</TreeModel>"
    )


def _segments(models, method):
    inner = "".join(f'<Segment id="{i}"><True/>{m}</Segment>' for i, m in enumerate(models))
    return f'<Segmentation multipleModelMethod="{method}">{inner}</Segmentation>'


def _regression(tables, names, function="classification", link="softmax", target="y"):
    made = "".join(
        f'<RegressionTable intercept="{float(intercept)!r}"'
        + (f' targetCategory="{name}">' if name else ">")
        + "".join(
            f'<NumericPredictor name="{field}" coefficient="{float(weight)!r}"/>'
            for field, weight in weights.items()
        )
        + "</RegressionTable>"
        for name, (intercept, weights) in tables.items()
    )
    return (
        f'<RegressionModel functionName="{function}" normalizationMethod="{link}">'
        f"{_schema(*names, target=target)}{made}</RegressionModel>"
    )


def _logistic(classes):
    model = LogisticRegression(max_iter=5000).fit(ROWS, TWO if len(classes) == 2 else THREE)
    weights = [dict(zip(X, own, strict=True)) for own in model.coef_]
    if len(classes) == 2:
        tables = {classes[1]: (model.intercept_[0], weights[0]), classes[0]: (0.0, {})}
        return _regression(tables, X, link="logit"), model
    tables = dict(zip(classes, zip(model.intercept_, weights, strict=True), strict=True))
    return _regression(tables, X), model


def _decision_tree(classes):
    model = DecisionTreeClassifier(max_depth=7, random_state=0)
    model.fit(ROWS, TWO if len(classes) == 2 else THREE)
    return _tree(model, _shares(classes), "classification"), model


def _forest(classes):
    model = RandomForestClassifier(12, max_depth=6, random_state=0)
    model.fit(ROWS, TWO if len(classes) == 2 else THREE)
    trees = [_tree(each, _shares(classes), "classification") for each in model.estimators_]
    whole = f"{_schema(*X)}{_segments(trees, 'average')}"
    return f'<MiningModel functionName="classification">{whole}</MiningModel>', model


def _boosted(classes):
    """A chain: a sum of trees for each class, then a regression over these sums."""
    model = GradientBoostingClassifier(n_estimators=10, random_state=0)
    model.fit(ROWS, TWO if len(classes) == 2 else THREE)
    base = model._raw_predict_init(ROWS[:1].astype(np.float32))[0]
    chained, tables = [], {}
    for place, column in enumerate(model.estimators_.T):
        trees = [_tree(each, _amount(0.1), "regression", "") for each in column]
        chained.append(
            f'<MiningModel functionName="regression">{_schema(*X, target="")}<Output>'
            f'<OutputField name="sum{place}" optype="continuous" dataType="double"/></Output>'
            f'<Targets><Target rescaleConstant="{float(base[place])!r}"/></Targets>'
            f"{_segments(trees, 'sum')}</MiningModel>"
        )
        tables[classes[place if len(classes) > 2 else 1]] = (0.0, {f"sum{place}": 1.0})
    if len(classes) == 2:
        tables[classes[0]] = (0.0, {})
    names = [f"sum{place}" for place in range(len(chained))]
    link = "logit" if len(classes) == 2 else "softmax"
    chained.append(_regression(tables, names, link=link))
    whole = f"{_schema(*X)}{_segments(chained, 'modelChain')}"
    return f'<MiningModel functionName="classification">{whole}</MiningModel>', model


def _opened(tmp_path, document):
    path = tmp_path / "model.pmml"
    path.write_text(document, encoding="utf-8")
    return open_model(path)


@pytest.mark.parametrize("classes", [("no", "yes"), ("low", "mid", "high")])
@pytest.mark.parametrize("kind", [_logistic, _decision_tree, _forest, _boosted])
def test_the_answers_are_those_of_the_model_that_was_exported(tmp_path, kind, classes):
    document, model = kind(classes)
    opened = _opened(tmp_path, _document(document, classes=classes, derived=SINGLE))
    assert opened.card.classes == classes
    assert (opened.card.inputs, opened.card.named, opened.card.read_as_data) == (X, True, True)
    assert opened.card.hints.target == "y"
    others = np.column_stack(
        [RNG.normal(40, 30, 3000), RNG.normal(0.5, 1, 3000), RNG.integers(-2, 9, 3000)]
    )
    # on the very thresholds, too, where "not above" and "below" part
    splits = [each.tree_ for each in np.ravel(getattr(model, "estimators_", []))]
    for tree in splits[:3]:
        inner = tree.children_left >= 0
        others[: inner.sum(), 0] = tree.threshold[inner]
    wanted = model.predict_proba(others)
    scores = opened.scores(list(others.T))
    given = wanted[:, 1:] if len(classes) == 2 else wanted
    np.testing.assert_allclose(scores, given, atol=2e-7)
    decided = scores[:, 0] > 0.5 if len(classes) == 2 else scores.argmax(axis=1)
    np.testing.assert_array_equal(decided, wanted.argmax(axis=1))
    # alone or in a batch: the same bits
    np.testing.assert_array_equal(opened.scores(list(others[7:8].T)), scores[7:8])


def test_votes_medians_and_weights_of_trees(tmp_path):
    trees = [
        DecisionTreeRegressor(max_depth=4, random_state=i).fit(ROWS[i::3], ROWS[i::3, 1])
        for i in range(3)
    ]
    each = np.column_stack([tree.predict(ROWS) for tree in trees])
    models = [_tree(tree, _amount(), "regression", "") for tree in trees]
    wanted = {
        "median": np.median(each, axis=1),
        "max": each.max(axis=1),
        "average": each.mean(axis=1),
        "sum": each.sum(axis=1),
    }
    for method, values in wanted.items():
        whole = (
            f'<MiningModel functionName="regression">{_schema(*X)}{_segments(models, method)}'
            "</MiningModel>"
        )
        opened = _opened(tmp_path, _document(whole, derived=SINGLE))
        np.testing.assert_allclose(opened.scores(list(ROWS.T))[:, 0], values, rtol=1e-12)
    forest = RandomForestClassifier(9, max_depth=3, random_state=1).fit(ROWS, THREE)
    names = ("a", "b", "c")
    models = [_tree(tree, _shares(names), "classification") for tree in forest.estimators_]
    whole = (
        f'<MiningModel functionName="classification">{_schema(*X)}'
        f"{_segments(models, 'majorityVote')}</MiningModel>"
    )
    opened = _opened(tmp_path, _document(whole, classes=names, derived=SINGLE))
    votes = np.array([tree.predict(ROWS) for tree in forest.estimators_]).astype(int)
    counts = np.stack([(votes == k).mean(axis=0) for k in range(3)], axis=1)
    np.testing.assert_allclose(opened.scores(list(ROWS.T)), counts, atol=1e-6)


# The example tree of the standard, as its rules for missing values are told of it.
GOLF = (
    """<TreeModel functionName="classification" missingValueStrategy="{strategy}"
 noTrueChildStrategy="{fallback}">"""
    + _schema("outlook", "temperature", "humidity")
    + """
<Node id="1" score="will play"><True/><ScoreDistribution value="will play" recordCount="60"/>
 <ScoreDistribution value="no play" recordCount="40"/>
 <Node id="2" score="will play"><SimplePredicate field="outlook" operator="equal" value="sunny"/>
  <Node id="3" score="will play"><CompoundPredicate booleanOperator="and">
    <SimplePredicate field="temperature" operator="lessThan" value="90"/>
    <SimplePredicate field="temperature" operator="greaterThan" value="50"/></CompoundPredicate>
 </Node>
  <Node id="4" score="no play"><SimplePredicate field="temperature" operator="greaterOrEqual"
    value="90"/></Node></Node>
 <Node id="5" score="no play"><SimpleSetPredicate field="outlook" booleanOperator="isIn">
   <Array n="2" type="string">overcast "light rain"</Array></SimpleSetPredicate>
  <Node id="6" score="will play"><CompoundPredicate booleanOperator="surrogate">
    <SimplePredicate field="humidity" operator="lessThan" value="80"/>
    <SimplePredicate field="temperature" operator="lessThan" value="70"/></CompoundPredicate></Node>
  <Node id="7" score="no play"><True/></Node></Node></Node></TreeModel>"""
)
GOLF_FIELDS = (
    '<DataField name="outlook" optype="categorical" dataType="string">'
    '<Value value="sunny"/><Value value="overcast"/><Value value="light rain"/>'
    '<Value value="rain"/><Value value="n/a" property="missing"/></DataField>'
    '<DataField name="temperature" optype="continuous" dataType="double"/>'
    '<DataField name="humidity" optype="continuous" dataType="double"/>'
)


@pytest.mark.parametrize(
    ("strategy", "fallback", "row", "decision"),
    [
        ("none", "returnNullPrediction", ("sunny", 70, 50), 1),
        ("none", "returnNullPrediction", ("sunny", 90, 50), 0),
        ("none", "returnNullPrediction", ("sunny", 50, 50), None),
        ("none", "returnLastPrediction", ("sunny", 50, 50), 1),
        ("none", "returnNullPrediction", ("rain", 70, 50), None),
        ("none", "returnNullPrediction", ("light rain", 70, 80), 0),
        # the surrogate decides where humidity is missing
        ("none", "returnNullPrediction", ("overcast", 60, None), 1),
        ("none", "returnNullPrediction", ("overcast", 75, None), 0),
        # nobody knows: the next child is true of everybody
        ("none", "returnNullPrediction", ("overcast", None, None), 0),
        ("lastPrediction", "returnNullPrediction", ("sunny", None, 50), 1),
        ("lastPrediction", "returnNullPrediction", ("overcast", None, None), 0),
        ("nullPrediction", "returnNullPrediction", ("sunny", None, 50), None),
        ("none", "returnLastPrediction", ("n/a", 60, 50), 1),
        ("none", "returnNullPrediction", (None, 60, 50), None),
    ],
)
def test_trees_treat_what_is_missing_as_the_standard_says(
    tmp_path, strategy, fallback, row, decision
):
    model = GOLF.format(strategy=strategy, fallback=fallback)
    document = _document(model, fields=GOLF_FIELDS, classes=("no play", "will play"))
    opened = _opened(tmp_path, document)
    assert opened.card.accepts == ("text", "number", "number")
    outlook, *numbers = row
    given = [
        np.array([outlook if outlook is not None else np.nan], dtype=object),
        *(np.array([np.nan if each is None else each], dtype=float) for each in numbers),
    ]
    score = opened.scores(given)[0, 0]
    assert np.isnan(score) if decision is None else (score > 0.5) == bool(decision)


def test_a_default_child_takes_those_of_whom_a_value_is_missing(tmp_path):
    model = (
        f'<TreeModel functionName="regression" missingValueStrategy="defaultChild">{_schema("x0")}'
        '<Node score="0" defaultChild="b"><True/>'
        '<Node id="a" score="1"><SimplePredicate field="x0" operator="lessThan" value="5"/></Node>'
        '<Node id="b" score="2"><SimplePredicate field="x0" operator="greaterOrEqual" value="5"/>'
        "</Node></Node></TreeModel>"
    )
    opened = _opened(tmp_path, _document(model))
    given = [np.array([4.999, 5.0, np.nan])]
    assert opened.scores(given)[:, 0].tolist() == [1, 2, 2]


def test_a_value_that_the_dictionary_does_not_list_is_refused_or_treated(tmp_path):
    for treatment, said in (("returnInvalid", None), ("asMissing", 1), ("asIs", None)):
        schema = _schema(
            *("temperature", "humidity"),
            more=f'<MiningField name="outlook" invalidValueTreatment="{treatment}" '
            'missingValueReplacement="sunny"/>',
        )
        model = GOLF.format(strategy="none", fallback="returnNullPrediction")
        model = model.replace(_schema("outlook", "temperature", "humidity"), schema)
        document = _document(model, fields=GOLF_FIELDS, classes=("no play", "will play"))
        opened = _opened(tmp_path, document)
        given = [np.array([60.0]), np.array([50.0]), np.array(["hail"], dtype=object)]
        if treatment == "returnInvalid":
            with pytest.raises(
                ModelError, match="not accept the value “hail” of its field “outlook”"
            ):
                opened.scores(given)
        else:
            score = opened.scores(given)[0, 0]
            assert np.isnan(score) if said is None else score == said


def test_outliers_and_intervals(tmp_path):
    fields = (
        '<DataField name="x0" optype="continuous" dataType="double">'
        '<Interval closure="openClosed" leftMargin="0" rightMargin="100"/></DataField>'
    )
    more = (
        '<MiningField name="x0" outliers="asExtremeValues" lowValue="10" highValue="20" '
        'missingValueReplacement="15" invalidValueTreatment="asMissing"/>'
    )
    model = _regression({"": (1.0, {"x0": 2.0})}, (), "regression", "none")
    model = model.replace(_schema(), _schema(more=more))
    opened = _opened(tmp_path, _document(model, fields=fields))
    given = [np.array([5.0, 10.0, 30.0, np.nan, 0.0, 100.0, 101.0])]
    assert opened.scores(given)[:, 0].tolist() == [21, 21, 41, 31, 31, 41, 31]


DERIVED = """
<DefineFunction name="twice" optype="continuous"><ParameterField name="p" dataType="double"/>
 <Apply function="*"><FieldRef field="p"/><Constant dataType="double">2</Constant></Apply>
 </DefineFunction>
<DerivedField name="scaled" optype="continuous" dataType="double"><NormContinuous field="x0"
 outliers="asExtremeValues" mapMissingTo="-1"><LinearNorm orig="0" norm="0"/>
 <LinearNorm orig="10" norm="1"/>
 <LinearNorm orig="30" norm="2"/></NormContinuous></DerivedField>
<DerivedField name="is_b" optype="continuous" dataType="double"><NormDiscrete field="s" value="b"
 mapMissingTo="0.5"/></DerivedField>
<DerivedField name="band" optype="categorical" dataType="string">
 <Discretize field="x0" defaultValue="high"
 mapMissingTo="none"><DiscretizeBin binValue="low"><Interval closure="closedOpen" leftMargin="0"
 rightMargin="10"/></DiscretizeBin></Discretize></DerivedField>
<DerivedField name="worth" optype="continuous" dataType="double"><MapValues outputColumn="out"
 defaultValue="7" dataType="double"><FieldColumnPair field="s" column="one"/>
 <FieldColumnPair field="band"
 column="two"/><InlineTable><row><one>a</one><two>low</two><out>3</out></row><row><one>b</one>
 <two>high</two>
 <out>5</out></row></InlineTable></MapValues></DerivedField>
<DerivedField name="made" optype="continuous" dataType="double"><Apply function="if">
 <Apply function="and">
 <Apply function="greaterThan"><FieldRef field="x0"/><Constant>20</Constant></Apply>
 <Apply function="isIn">
 <FieldRef field="s"/><Constant>a</Constant><Constant>b</Constant></Apply></Apply>
 <Apply function="twice">
 <Apply function="max"><FieldRef field="x0"/><FieldRef field="worth"/></Apply></Apply>
 <Apply function="ln" mapMissingTo="-9"><FieldRef field="x0"/></Apply></Apply></DerivedField>"""


def test_transformations(tmp_path):
    fields = (
        '<DataField name="x0" optype="continuous" dataType="double"/>'
        '<DataField name="s" optype="categorical" dataType="string"/>'
    )
    given = [
        np.array([5.0, 20.0, 40.0, np.nan, 0.0]),
        np.array(["a", "b", "b", "a", np.nan], dtype=object),
    ]
    wanted = {
        "scaled": [0.5, 1.5, 2, -1, 0],
        "is_b": [0, 1, 1, 0, 0.5],
        "worth": [3, 5, 5, 7, np.nan],
        "made": [np.log(5), np.log(20), 80, np.nan, -np.inf],
    }
    for name, values in wanted.items():
        model = _regression({"": (0.0, {name: 1.0})}, ("x0", "s"), "regression", "none")
        opened = _opened(tmp_path, _document(model, fields=fields, derived=DERIVED))
        np.testing.assert_allclose(opened.scores(given)[:, 0], values, rtol=1e-12)


def test_a_general_regression_as_r_writes_it(tmp_path):
    fields = (
        '<DataField name="age" optype="continuous" dataType="double"/>'
        '<DataField name="sex" optype="categorical" dataType="string"><Value value="female"/>'
        '<Value value="male"/></DataField>'
    )
    model = (
        '<GeneralRegressionModel modelType="generalizedLinear" functionName="classification" '
        f'distribution="binomial" linkFunction="logit">{_schema("age", "sex")}<ParameterList>'
        '<Parameter name="p0" label="(Intercept)"/><Parameter name="p1" label="age"/>'
        '<Parameter name="p2" label="sexmale"/><Parameter name="p3" label="age:sexmale"/>'
        '</ParameterList><FactorList><Predictor name="sex"/></FactorList>'
        '<CovariateList><Predictor name="age"/></CovariateList><PPMatrix>'
        '<PPCell value="1" predictorName="age" parameterName="p1"/>'
        '<PPCell value="male" predictorName="sex" parameterName="p2"/>'
        '<PPCell value="1" predictorName="age" parameterName="p3"/>'
        '<PPCell value="male" predictorName="sex" parameterName="p3"/></PPMatrix><ParamMatrix>'
        '<PCell parameterName="p0" beta="-2.5"/><PCell parameterName="p1" beta="0.04"/>'
        '<PCell parameterName="p2" beta="1.2"/><PCell parameterName="p3" beta="-0.01"/>'
        "</ParamMatrix></GeneralRegressionModel>"
    )
    opened = _opened(tmp_path, _document(model, fields=fields, classes=("0", "1")))
    age, male = np.array([30.0, 30.0, 70.0]), np.array([0.0, 1.0, 1.0])
    sums = -2.5 + 0.04 * age + 1.2 * male - 0.01 * age * male
    given = [age, np.where(male == 1, "male", "female").astype(object)]
    np.testing.assert_allclose(opened.scores(given)[:, 0], 1 / (1 + np.exp(-sums)), rtol=1e-6)


def test_a_scorecard_adds_points(tmp_path):
    fields = (
        '<DataField name="department" optype="categorical" dataType="string"/>'
        '<DataField name="age" optype="continuous" dataType="integer"/>'
    )
    model = (
        '<Scorecard functionName="regression" initialScore="10" useReasonCodes="false">'
        f"{_schema('department', 'age')}<Characteristics><Characteristic name='d'>"
        '<Attribute partialScore="-9"><SimplePredicate field="department" operator="isMissing"/>'
        '</Attribute><Attribute partialScore="19"><SimplePredicate field="department" '
        'operator="equal" value="marketing"/></Attribute></Characteristic>'
        '<Characteristic name="a"><Attribute partialScore="-1"><SimplePredicate field="age" '
        'operator="isMissing"/></Attribute><Attribute><SimplePredicate field="age" '
        'operator="lessOrEqual" value="18"/><ComplexPartialScore><Apply function="*"><FieldRef '
        'field="age"/><Constant>2</Constant></Apply></ComplexPartialScore></Attribute>'
        '<Attribute partialScore="25"><True/></Attribute></Characteristic></Characteristics>'
        "</Scorecard>"
    )
    opened = _opened(tmp_path, _document(model, fields=fields))
    given = [
        np.array(["marketing", np.nan, "marketing", "other"], dtype=object),
        np.array([17.0, 40.0, np.nan, 20.0]),
    ]
    np.testing.assert_array_equal(opened.scores(given)[:, 0], [63, 26, 28, np.nan])
    assert opened.card.scores == "values"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (
            _document("", header='<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'),
            "declares entities",
        ),
        (_document('<NeuralNetwork functionName="regression"/>'), "NeuralNetwork"),
        (_document(""), "no model"),
        (_document("<MiningModel>")[:-20], "cut off"),
        (
            _document(
                _regression({"": (0.0, {"z": 1.0})}, X, "regression", "none"),
                derived='<DerivedField name="z" dataType="double"><Apply function="x-hack">'
                '<FieldRef field="x0"/></Apply></DerivedField>',
            ),
            "the function “x-hack”",
        ),
        (
            _document(_regression({"": (0.0, {"gone": 1.0})}, X, "regression", "none")),
            "the field “gone”",
        ),
        (
            _document(
                _regression({"": (0.0, {"z": 1.0})}, X, "regression", "none"),
                derived='<DerivedField name="z" dataType="double"><FieldRef field="z"/>'
                "</DerivedField>",
            ),
            "the field “z”",
        ),
        (
            _document(
                _regression({"": (0.0, {"z": 1.0})}, X, "regression", "none"),
                derived='<DerivedField name="z" dataType="double">'
                + '<Apply function="abs">' * 2500
                + '<FieldRef field="x0"/>'
                + "</Apply>" * 2500
                + "</DerivedField>",
            ),
            "within expressions",
        ),
        (
            _document(
                '<TreeModel functionName="regression" missingValueStrategy="weightedConfidence">'
                f'{_schema("x0")}<Node score="1"><True/></Node></TreeModel>'
            ),
            "“weightedConfidence”",
        ),
    ],
)
def test_what_is_hostile_or_not_read_is_refused_by_name(tmp_path, document, said):
    with pytest.raises(ModelError) as caught:
        _opened(tmp_path, document)
    assert said in str(caught.value)
    assert caught.value.remedy


_ONE_LEAF = f'<TreeModel functionName="regression">{_schema("x0")}<Node score="1"><True/></Node>'
_GENERAL = '<GeneralRegressionModel functionName="regression" modelType="generalizedLinear" '


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            (
                f'<MiningModel functionName="regression">{_schema("x0")}<Segmentation '
                'multipleModelMethod="weightedAverage"><Segment weight="0"><True/>'
                f"{_ONE_LEAF}</TreeModel></Segment></Segmentation></MiningModel>"
            ),
            "weights do not add up",
        ),
        (
            (
                f'{_GENERAL}linkFunction="identity" offsetValue="abc">{_schema("x0")}<ParamMatrix>'
                '<PCell parameterName="p" beta="1"/></ParamMatrix></GeneralRegressionModel>'
            ),
            "“offsetValue” is “abc”",
        ),
        (
            f'{_GENERAL}linkFunction="identity">{_schema("x0")}</GeneralRegressionModel>',
            "without a ParamMatrix",
        ),
        (
            _ONE_LEAF.replace(
                "<True/>",
                '<SimpleSetPredicate field="x0" booleanOperator="isIn"><Array type="string">'
                '"1</Array></SimpleSetPredicate>',
            )
            + "</TreeModel>",
            "a quotation mark that does not end",
        ),
    ],
)
def test_a_malformed_model_is_refused_by_what_is_wrong(tmp_path, model, said):
    with pytest.raises(ModelError) as caught:
        _opened(tmp_path, _document(model))
    assert said in str(caught.value)


def test_a_class_may_be_called_infinite_and_a_scorecard_has_no_classes(tmp_path):
    tree = f'<TreeModel functionName="classification">{_schema("x0")}<Node score="1"><True/></Node>'
    document = _document(f"{tree}</TreeModel>", classes=("inf", "1"))
    numbers = document.replace('dataType="string"', 'dataType="double"')
    assert set(_opened(tmp_path, numbers).card.classes) == {"inf", "1"}
    card = f'<Scorecard functionName="classification">{_schema("x0")}<Characteristics/></Scorecard>'
    with pytest.raises(ModelError, match="a scorecard that decides between classes"):
        _opened(tmp_path, _document(card, classes=("n", "p")))


def test_deep_trees_are_read_without_recursion(tmp_path):
    depth = 1_400
    nodes = "".join(
        f'<Node score="{i}"><SimplePredicate field="x0" operator="greaterThan" value="{i}"/>'
        for i in range(depth)
    )
    model = (
        f'<TreeModel functionName="regression" noTrueChildStrategy="returnLastPrediction">'
        f'{_schema("x0")}<Node score="-1"><True/>{nodes}{"</Node>" * depth}</Node></TreeModel>'
    )
    opened = _opened(tmp_path, _document(model))
    given = [np.array([-5.0, 0.5, 700.5, 1e9, np.nan])]
    assert opened.scores(given)[:, 0].tolist() == [-1, 0, 700, depth - 1, -1]


def test_a_pmml_file_is_inspected_like_any_other_model(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        (outlook, int(t), int(h))
        for outlook, t, h in zip(
            rng.choice(["sunny", "overcast", "light rain"], 200),
            rng.integers(51, 100, 200),
            rng.integers(30, 100, 200),
            strict=True,
        )
    ]

    def plays(outlook, temperature, humidity):
        return temperature < 90 if outlook == "sunny" else humidity < 80

    table = "humidity,outlook,temperature,played\n" + "".join(
        f"{h},{o},{t},{'will play' if plays(o, t, h) else 'no play'}\n" for o, t, h in rows
    )
    (tmp_path / "days.csv").write_text(table)
    path = tmp_path / "golf.xml"
    document = _document(
        GOLF.format(strategy="none", fallback="returnNullPrediction"),
        fields=GOLF_FIELDS,
        classes=("no play", "will play"),
    )
    path.write_text(document.replace("UTF-8", "UTF-16"), encoding="utf-16")
    assert describe_format(path) == look_into(path).format == "pmml"
    worker = Worker()
    try:
        subject = Subject(
            data=tmp_path / "days.csv", label="played", favourable="will play", model=path
        )
        found = inspect(worker, subject, lambda _: None)
    finally:
        worker.close()
    assert found.proof.accuracy == 1.0
    assert found.mapping.matched == "by name"
    assert found.card.format == "PMML 4.4 model"
