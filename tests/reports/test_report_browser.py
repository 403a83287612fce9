"""The report in a browser: what people see, click and type, and what the page may not do."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import relynx as rx
from relynx.reports import html
from relynx.reports.page_data import page_facts

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("Chromium is not installed: no report is opened", allow_module_level=True)
playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no report is opened"
)

ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZE = {"width": 1200, "height": 900}
HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 2</script>",
    "<img src=x onerror='window.hacked = 3'>",
    "{{ 7 * 7 }} ${window.hacked = 4}",
    "\"'`><b onmouseover=window.hacked=5>",
    "line\nbreak\ttab \x00 null",
    "\u202egnp.exe \u05d0\u05d1\u05d2 \u2028",
    "&lt;b&gt; <!-- <script>",
]


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        one = started.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield one
        one.close()


@pytest.fixture(scope="module")
def folds():
    """A part of the folds and a quick model of them."""
    whole = rx.load_protein_folds()
    X, y = whole.X[::6], whole.y[::6]
    model = rx.LynxClassifier(
        whole.bias, max_length=2, max_features=60, n_features=8, max_iter=5, random_state=0
    )
    return model.fit(whole.X[1::6], whole.y[1::6]), X, y


@pytest.fixture(scope="module")
def report_file(folds, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "folds.html"
    rx.report(*folds).save(path)
    return path


class Opened:
    """A page, with what it asked for and what it complained of."""

    def __init__(self, browser, path: Path, **options) -> None:
        options.setdefault("viewport", SIZE)
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.address = path.as_uri()
        self.load()

    def load(self) -> None:
        """The page as it is at first."""
        self.complaints.clear()
        self.requests.clear()
        self.page.goto(self.address)

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.context.close()

    def assert_quiet(self) -> None:
        assert self.complaints == []
        assert {url for url in self.requests if not url.startswith("data:")} == {self.address}


@pytest.fixture(scope="module")
def kept(browser, report_file):
    with Opened(browser, report_file) as one:
        yield one


@pytest.fixture
def opened(kept):
    """The report, loaded anew; a process of the browser for each test takes most of the time."""
    kept.page.set_viewport_size(SIZE)
    kept.page.emulate_media(media="screen", color_scheme="light", reduced_motion="no-preference")
    kept.load()
    yield kept
    kept.assert_quiet()


def matched_events(page) -> dict[str, str]:
    """The events that are highlighted, and the variables that are written on them."""
    boxes = page.locator("#sequence-browser .event.matched").all()
    return {
        box.get_attribute("data-event"): box.locator(".variable").text_content() for box in boxes
    }


def events_of(sequence, bindings: dict) -> dict[str, str]:
    """The events among the values of a match, and their variables."""
    events = {arg for atom in sequence.atoms if atom.predicate == "next_s" for arg in atom.args}
    return {value: name for name, value in bindings.items() if value in events}


def sorted_items(pairs: dict) -> list:
    return sorted(pairs.items())


def screenshot(page, name: str) -> None:
    folder = Path(os.environ.get("RELYNX_SCREENSHOTS", "build/screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"{name}.png", full_page=True)


# What the page shows


def test_the_page_says_the_accuracy_of_the_model(opened, folds):
    model, X, y = folds
    share = float(np.mean(model.predict(X) == y))
    assert opened.page.locator("#accuracy .big").inner_text().startswith(f"{100 * share:.1f} %")


def test_the_search_finds_patterns_by_their_text(opened, folds):
    page, texts = opened.page, [*folds[0].selected_.texts()]
    page.get_by_label("Search in words and text").fill("follow_h( minus")
    wanted = {text for text in texts if "follow_h(" in text and "minus" in text}
    shown = page.locator("#pattern-table tbody code")
    assert {shown.nth(i).inner_text() for i in range(shown.count())} == wanted
    assert 0 < len(wanted) < 20
    assert page.locator("#live").inner_text() == f"{len(wanted)} patterns found"


def test_a_search_without_an_answer_says_so(opened):
    opened.page.get_by_label("Search in words and text").fill("no such pattern")
    body = opened.page.locator("#pattern-table tbody")
    assert body.inner_text() == "No pattern contains these words."


def test_a_click_on_a_header_sorts_and_a_second_one_turns_the_order(opened):
    page = opened.page
    button = page.locator("#pattern-table thead").get_by_role("button", name="of others")
    cells = page.locator("#pattern-table tbody tr td:nth-child(4)")
    for order in ("descending", "ascending"):
        button.click()
        values = [int(text.split()[0]) for text in cells.all_inner_texts()]
        assert values == sorted(values, reverse=order == "descending")
        assert button.locator("xpath=..").get_attribute("aria-sort") == order


def test_a_pattern_leads_to_the_sequences_that_it_covers(opened, folds):
    X = folds[1]
    page = opened.page
    row = page.locator("#pattern-table tbody button.row").first
    text = row.locator("code").inner_text()
    row.click()
    covered = rx.covers(text, X)
    button = page.locator("#pattern-detail").get_by_role("button")
    assert button.inner_text() == f"Show the {covered.sum()} sequences here that it covers"
    button.click()
    status = page.locator("#sequence-browser .side .status")
    assert status.inner_text() == f"{covered.sum()} sequences"
    first = int(np.flatnonzero(covered)[0])
    assert page.locator("#sequence-browser .head h3").inner_text() == X.ids[first]
    assert matched_events(page) in [events_of(X[first], one) for one in rx.match(text, X[first])]


def test_a_chosen_pattern_is_highlighted_on_the_events_that_match_finds(opened, folds):
    X = folds[1]
    page = opened.page
    checked = 0
    for i in (0, 5, 11):
        page.get_by_label("Search for an id").fill(str(X.ids[i]))
        rows = page.locator("#sequence-browser tr.present button.row")
        for k in range(min(rows.count(), 3)):
            rows.nth(k).click()
            text = rows.nth(k).locator("code").inner_text()
            wanted = [events_of(X[i], one) for one in rx.match(text, X[i])]
            seen = [matched_events(page)]
            forward = page.get_by_label("Next match")
            while forward.count() and len(seen) < len(wanted):
                forward.click()
                seen.append(matched_events(page))
            assert sorted(map(sorted_items, seen)) == sorted(map(sorted_items, wanted))
            checked += len(seen)
    assert checked > 5


def test_a_pattern_that_does_not_hold_highlights_nothing(opened):
    page = opened.page
    page.locator("#sequence-browser tr.absent button.row").first.click()
    assert matched_events(page) == {}
    assert (
        page.locator(".stepper").inner_text().endswith("The pattern does not match this sequence.")
    )


def test_only_the_wrong_ones_are_those_that_the_model_got_wrong(opened, folds):
    model, X, y = folds
    opened.page.get_by_label("misclassified only").check()
    wrong = int((model.predict(X) != y).sum())
    status = opened.page.locator("#sequence-browser .side .status")
    assert wrong > 1
    assert status.inner_text() == f"{wrong} sequences"


def test_contributions_and_the_prior_sum_to_the_difference_of_the_scores(opened, folds):
    model, X, _ = folds
    found = opened.page.evaluate(
        """() => relynx.data.pairs.flatMap((pair) => {
            const [a, b] = pair.classes;
            return [0, 7, 30].map((i) => {
                const c = relynx.contributions(i, a, b);
                return c.rows.reduce((sum, row) => sum + row.value, c.prior.value);
            });
        })"""
    )
    covered = model.selected_.coverage(X).astype(float)
    wanted = [
        -float(pair.decisions(covered[[i]][:, columns])[0])
        for pair, columns in zip(model.estimators_, model.columns_, strict=True)
        for i in (0, 7, 30)
    ]
    assert np.allclose(found, wanted, atol=1e-3)


def test_a_relation_is_told_with_the_arguments_that_are_no_events(browser, tmp_path):
    atoms = [f"next_s(e{i},e{i + 1})" for i in range(1, 5)]
    lists = [[*atoms, "rel(plus,e1,e3,7)"], [*atoms, "rel(minus,e1,e3,7)"]] * 10
    X = rx.Sequences.from_atoms([[rx.parse_atom(one) for one in atoms] for atoms in lists])
    y = ["yes", "no"] * 10
    bias = rx.parse_bias(
        "type(rel(sense,event,event,n)). mode(rel(#,+,+,#)). dimension(next_s). maxsize(1)."
    )
    model = rx.LynxClassifier(bias, selection=None).fit(X, y)
    rx.report(model, X, y).save(tmp_path / "relation.html")
    with Opened(browser, tmp_path / "relation.html") as one:
        one.page.locator("tr.present button.row").first.click()
        told = one.page.locator("text.relation").all_text_contents()
        assert told == ["rel plus 7", "follow_s"]
        one.assert_quiet()


def test_where_each_class_is_ruled_out_the_page_says_that_what_is_left_decides(browser, tmp_path):
    X, y = rx.planted_rule(60, random_state=0)
    T, t = rx.planted_rule(120, flip=0.3, random_state=5)
    model = rx.LynxClassifier(max_length=2, smoothing=0, n_features=8, max_iter=4, random_state=0)
    rx.report(model.fit(X, y), T, t).save(tmp_path / "out.html")
    why = [rx.explain(model, one) for one in T]
    i = next(i for i, one in enumerate(why) if one.models[0].none_left)
    scores, given = why[i].models[0].scores, why[i].predicted
    other = "no" if given == "yes" else "yes"
    with Opened(browser, tmp_path / "out.html") as one:
        one.page.get_by_label("Search for an id").fill(str(T.ids[i]))
        total = one.page.locator(".why tr.total td span").inner_text()
        assert float(total.replace("−", "-")) == pytest.approx(
            scores[given] - scores[other], abs=0.01
        )
        assert one.page.locator(".question .quiet").inner_text() == (
            "Each class is ruled out by a pattern. Classes that are ruled out least often win, and "
            "the finite parts of the terms decide between them."
        )
        assert one.page.locator(".why").get_by_text("rules out").count() >= 2
        one.page.get_by_label("Search for an id").fill(str(T.ids[0]))
        assert one.page.locator(".question .quiet").count() == 0
        one.assert_quiet()


def test_a_sequence_without_its_facts_says_so(browser, tmp_path, monkeypatch):
    X, y = rx.planted_rule(40, random_state=0)
    model = rx.LynxClassifier(max_length=1, selection=None).fit(X, y)
    page = rx.report(model, X, y).html
    monkeypatch.setattr(html, "LARGEST", len(page) - 400)
    rx.report(model, X, y).save(tmp_path / "part.html")
    with Opened(browser, tmp_path / "part.html") as one:
        one.page.locator(".listbox").focus()
        one.page.keyboard.press("End")
        assert one.page.locator("#sequence-browser .note").inner_text() == (
            "The facts of this sequence were left out to keep the page small. "
            "A report on fewer or shorter sequences includes more facts."
        )
        one.page.locator("#sequence-browser button.row").first.click()
        one.assert_quiet()


@pytest.mark.parametrize("height", [900, 560])
def test_the_strip_stays_in_view_when_a_pattern_below_is_chosen(opened, height):
    page = opened.page
    page.set_viewport_size(SIZE | {"height": height})
    page.emulate_media(reduced_motion="reduce")
    rows = page.locator("#sequence-browser .why tr.present button.row")
    rows.nth(rows.count() - 1).focus()
    page.keyboard.press("Enter")
    for box in (page.locator(".event.matched").first, page.locator(".steps")):
        place = box.bounding_box()
        assert 0 <= place["y"] <= place["y"] + place["height"] <= height


def test_what_was_opened_stays_open(opened):
    page = opened.page
    page.locator("details.facts summary").click()
    page.locator("#sequence-browser tr.present button.row").first.click()
    assert page.locator("details.facts[open] code.used").count() > 0


def test_a_long_sequence_is_drawn_in_parts(browser, tmp_path):
    lists = [["a"] * 300 + ["b"] + ["a"] * 200, ["a"] * 10]
    X, y = rx.from_lists(lists * 5, ["yes", "no"] * 5)
    bias = rx.parse_bias("type(b(event)). mode(b(+)). dimension(next_s).")
    model = rx.LynxClassifier(bias, max_length=1, selection=None).fit(X, y)
    rx.report(model, X, y).save(tmp_path / "long.html")
    with Opened(browser, tmp_path / "long.html") as one:
        page = one.page
        status = page.locator(".parts .status")
        assert status.inner_text() == "events 1–200 of 501"
        page.get_by_role("button", name="Later").click()
        assert status.inner_text() == "events 201–400 of 501"
        page.locator("tr.present button.row").click()
        assert status.inner_text() == "events 296–495 of 501"
        assert matched_events(page) == {"e301": "A"}
        one.assert_quiet()


def test_facts_of_sequences_without_events_are_listed_and_marked(browser, tmp_path):
    lists = [["bond(a,b,single)", "bond(b,c,double)"], ["bond(a,b,double)"]] * 10
    X = rx.Sequences.from_atoms([[rx.parse_atom(one) for one in atoms] for atoms in lists])
    y = ["yes", "no"] * 10
    bias = rx.parse_bias("type(bond(atom,atom,kind)). mode(bond(+,-,#)).")
    model = rx.LynxClassifier(bias, max_length=1, selection=None).fit(X, y)
    rx.report(model, X, y).save(tmp_path / "molecules.html")
    with Opened(browser, tmp_path / "molecules.html") as one:
        page = one.page
        assert page.locator(".strip").count() == 0
        page.locator("tr.present button.row").first.click()
        assert page.locator("details.facts code").all_inner_texts() == [
            "bond(a,b,single)",
            "bond(b,c,double)",
        ]
        assert page.locator("details.facts code.used").all_inner_texts() == ["bond(a,b,single)"]
        one.assert_quiet()


def test_a_page_without_classes_or_contributions_opens(browser, tmp_path):
    X, y = rx.planted_rule(40, random_state=0)
    learner = KNeighborsClassifier(3)
    model = rx.LynxClassifier(max_length=1, selection=None, final_estimator=learner).fit(X, y)
    rx.report(model, X.with_labels(None)).save(tmp_path / "plain.html")
    with Opened(browser, tmp_path / "plain.html") as one:
        page = one.page
        assert page.get_by_label("misclassified only").count() == 0
        assert page.locator("#sequence-browser .head p").inner_text().startswith("predicted ")
        assert page.locator(".question .quiet").inner_text() == (
            "This learner is not additive, so patterns have no individual contributions."
        )
        one.assert_quiet()


# The matcher


def test_the_page_matches_every_pattern_in_every_sequence_as_covers_does(opened, folds):
    model, X, _ = folds
    found = opened.page.evaluate(
        """() => relynx.data.sequences.ids.map((_, s) => relynx.data.patterns.map((_, p) =>
            [relynx.matches(p, s, 1).found.length > 0, relynx.isCovered(s, p)]))"""
    )
    wanted = rx.covers([*model.selected_.patterns()], X)
    assert 0.1 < wanted.mean() < 0.9
    assert np.array_equal(np.array(found)[:, :, 0], wanted)
    assert np.array_equal(np.array(found)[:, :, 1], wanted)


def random_case(rng: np.random.Generator):
    """A sequence with cycles and branches, and a pattern with all that patterns may have."""

    def pick(*values):
        return values[rng.integers(len(values))]

    events = [f"e{i}" for i in range(5)]
    atoms = [f"next_{d}({pick(*events)},{pick(*events)})" for d in "sh" for _ in range(4)]
    atoms += [f"p({pick(*events)},{pick('a', 'b', '1', '1.0')})" for _ in range(5)]
    atoms += [f"r({pick(*events)},{pick(*events)},{pick('a', 'b')})" for _ in range(5)]
    if rng.random() < 0.5:
        atoms.append("sunny")

    def event():
        return pick("X", "X", "Y", "Y", "Z", "_", "e1")

    def value():
        return pick("V", "W", "_", "a", "1", "1.0", "unheard")

    def atom():
        kind = rng.integers(6)
        d = pick("s", "h")
        n = int(pick(1, 2, 3, 5, 1000003))
        return [
            f"p({event()},{value()})",
            f"r({event()},{event()},{value()})",
            f"next_{d}({event()},{event()})",
            f"follow_{d}({event()},{event()})",
            f"followat_{d}({n},{event()},{event()})",
            pick("sunny", "rainy", "follow_q(X,Y)"),
        ][kind]

    pattern = ", ".join(atom() for _ in range(rng.integers(1, 5)))
    return atoms, pattern


def test_the_matcher_of_the_page_finds_what_match_finds(opened):
    rng = np.random.default_rng(5)
    cases, wanted = [], []
    for i in range(400):
        atoms, text = random_case(rng)
        X = rx.Sequences.from_atoms([[rx.parse_atom(atom) for atom in atoms]])
        flag = bool(i % 2)
        facts, pattern = X.facts(flag), rx.parse_pattern(text)
        packed = page_facts(facts, [*facts.tables], np.arange(1), 10_000)
        cases.append(
            {
                "facts": packed.sequences[0],
                "keys": packed.keys,
                "dimensions": [*packed.dimensions.values()],
                "pattern": {"variables": pattern.variables, "atoms": packed.atoms(pattern)},
                "oi": flag,
                "constants": packed.constants,
            }
        )
        texts = [
            [str(rx.Atom("c", (one[name],))) for name in pattern.variables]
            for one in rx.match(pattern, X[0], object_identity=flag)
        ]
        covered = bool(rx.covers(pattern, X, object_identity=flag)[0])
        wanted.append([covered, sorted(texts)])
    found = opened.page.evaluate(
        """(cases) => cases.map((c) => {
            const facts = relynx.decodeFacts(c.facts, c.keys);
            const graphs = c.dimensions.map((key) => relynx.makeGraph(facts[key]));
            const { found } = relynx.findMatches(c.pattern, facts, graphs, c.oi);
            return found.map((row) => row.map((v) => c.constants[v]));
        })""",
        cases,
    )
    hits = 0
    for case, rows, (covered, texts) in zip(cases, found, wanted, strict=True):
        assert (len(rows) > 0) == covered, case
        if case["pattern"]["variables"]:
            assert sorted([f"c({value})" for value in row] for row in rows) == texts, case
        hits += covered
    assert 50 < hits < 350


def test_the_matcher_gives_up_in_time(opened):
    n = 40
    ring = [f"next_s(e{i},e{(i * 7 + k) % n})" for i in range(n) for k in (1, 2, 3)]
    X = rx.Sequences.from_atoms([[rx.parse_atom(atom) for atom in ring]])
    facts = X.facts()
    pattern = rx.parse_pattern(
        ", ".join(f"follow_s(A{i},A{i + 1})" for i in range(12)) + ", next_s(A12,A12)"
    )
    packed = page_facts(facts, [*facts.tables], np.arange(1), 10_000)
    answer = opened.page.evaluate(
        """(c) => {
            const facts = relynx.decodeFacts(c.facts, c.keys);
            const graphs = c.dimensions.map((key) => relynx.makeGraph(facts[key]));
            const begun = performance.now();
            const { found, complete } = relynx.findMatches(c.pattern, facts, graphs, true);
            return { n: found.length, complete, seconds: (performance.now() - begun) / 1000 };
        }""",
        {
            "facts": packed.sequences[0],
            "keys": packed.keys,
            "dimensions": [*packed.dimensions.values()],
            "pattern": {"variables": pattern.variables, "atoms": packed.atoms(pattern)},
        },
    )
    assert not answer["complete"]
    assert answer["n"] <= 1000
    assert answer["seconds"] < 5


# Keys, sizes, colours


def test_arrow_keys_go_through_the_sequences(opened, folds):
    page, ids = opened.page, folds[1].ids.tolist()
    page.locator(".listbox").focus()
    for key in ("ArrowDown", "ArrowDown", "PageDown", "ArrowUp"):
        page.keyboard.press(key)
    assert page.locator("#sequence-browser .head h3").inner_text() == ids[10]
    page.keyboard.press("End")
    assert page.locator("#sequence-browser .head h3").inner_text() == ids[-1]
    active = page.locator(".listbox").get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
    assert page.locator(".option").count() < 40


def test_arrow_keys_go_through_the_patterns_and_enter_chooses(opened):
    page = opened.page
    page.locator("#pattern-table button.row").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    second = page.locator("#pattern-table button.row").nth(1)
    assert second.get_attribute("aria-pressed") == "true"
    assert page.locator("#pattern-detail").count() == 1


def test_the_focus_stays_on_the_pattern_that_was_chosen(opened):
    page = opened.page
    page.locator("#sequence-browser tr.present button.row").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"


def focused(page) -> str:
    return page.evaluate("document.activeElement.textContent.trim().slice(0, 40)")


def test_the_focus_goes_to_the_other_button_at_the_last_page(opened):
    page = opened.page
    page.locator("#pattern-table").get_by_role("button", name="Next", exact=True).focus()
    while (
        page.locator("#pattern-table").get_by_role("button", name="Next", exact=True).is_enabled()
    ):
        page.keyboard.press("Enter")
    assert focused(page) == "Previous"
    while (
        page.locator("#pattern-table")
        .get_by_role("button", name="Previous", exact=True)
        .is_enabled()
    ):
        page.keyboard.press("Enter")
    assert focused(page) == "Next"


def test_the_focus_goes_to_the_first_of_more_patterns(browser, tmp_path):
    X, y = rx.planted_rule(40, random_state=0)
    model = rx.LynxClassifier(max_length=1, selection=None).fit(X, y)
    rx.report(model, X, y).save(tmp_path / "many.html")
    with Opened(browser, tmp_path / "many.html") as one:
        page = one.page
        rows = page.locator("#sequence-browser .why button.row")
        before = {*rows.evaluate_all("rows => rows.map((row) => row.dataset.pattern)")}
        page.get_by_role("button", name="more pattern").focus()
        page.keyboard.press("Enter")
        after = rows.evaluate_all("rows => rows.map((row) => row.dataset.pattern)")
        new = next(pattern for pattern in after if pattern not in before)
        assert page.evaluate("document.activeElement.dataset.pattern") == new
        one.assert_quiet()


def test_the_focus_goes_to_the_list_when_all_sequences_are_shown_again(opened):
    page = opened.page
    page.locator("#pattern-table button.row").first.click()
    page.locator("#pattern-detail").get_by_role("button").click()
    page.get_by_role("button", name="Show all again").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "listbox"


def test_every_control_has_a_name(opened):
    nameless = opened.page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, [tabindex], svg[role]")]
            .filter((one) => !one.closest("[hidden]") && !(one.getAttribute("aria-label") ||
                one.textContent.trim() || (one.labels && one.labels.length)))
            .map((one) => one.outerHTML.slice(0, 120))"""
    )
    assert nameless == []


@pytest.mark.parametrize("width", [360, 768, 1200])
def test_the_page_never_scrolls_sideways(opened, width):
    page = opened.page
    page.set_viewport_size({"width": width, "height": 740})
    page.locator("#sequence-browser tr.present button.row").first.click()
    page.locator("#pattern-table button.row").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_colour_schemes(opened, scheme):
    opened.page.emulate_media(color_scheme=scheme)
    opened.load()
    colour, back, quiet = opened.page.evaluate(
        """() => [getComputedStyle(document.body).color,
            getComputedStyle(document.body).backgroundColor,
            getComputedStyle(document.querySelector("thead th")).color]"""
    )
    for text in (colour, quiet):
        light, dark = sorted([luminance(text), luminance(back)], reverse=True)
        assert (light + 0.05) / (dark + 0.05) > 4.5
    assert (luminance(back) < 0.2) == (scheme == "dark")


def test_the_button_changes_the_colours(opened):
    page = opened.page
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Use dark colours").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.get_by_role("button", name="Use light colours").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == before


def test_on_paper_everything_is_open_and_nothing_is_to_be_clicked(opened):
    page = opened.page
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    assert not page.locator("nav").is_visible()
    assert not page.locator(".controls").first.is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.facts[open]").count() == 0


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("dark", {"color_scheme": "dark"}),
        ("phone", {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2}),
    ],
)
def test_screenshots_are_kept(browser, report_file, name, options):
    with Opened(browser, report_file, **options) as one:
        one.page.locator("#sequence-browser tr.present button.row").first.click()
        one.page.locator("#pattern-table button.row").nth(1).click()
        screenshot(one.page, f"report-{name}")
        one.assert_quiet()


# Text that would do harm


def test_text_of_the_data_is_shown_and_never_run(browser, tmp_path):
    values = [HOSTILE[i % len(HOSTILE)] for i in range(24)]
    lists = [[("p", value), ("q", "x" if i % 2 else "y")] for i, value in enumerate(values)]
    classes = [HOSTILE[i % 2] for i in range(24)]
    X = rx.Sequences.from_atoms(
        [one.atoms for one in rx.from_lists(lists)[0]],
        ids=[f"{value} {i}" for i, value in enumerate(values)],
        labels=classes,
    )
    model = rx.LynxClassifier(min_support=0.01, max_length=2, max_iter=3, random_state=0)
    rx.report(model.fit(X, classes), X, classes).save(tmp_path / "hostile.html")
    with Opened(browser, tmp_path / "hostile.html") as one:
        page = one.page
        for k in range(8):
            page.locator(".option").nth(k).click()
            row = page.locator("#sequence-browser button.row").first
            row.click()
            row.hover()
        page.locator("#pattern-table button.row").first.click()
        page.locator("details.facts summary").click()
        assert page.evaluate("typeof window.hacked") == "undefined"
        assert page.locator("main script, main img, main b").count() == 0
        assert page.locator(".option .id").first.inner_text() == f"{HOSTILE[0]} 0"
        assert page.locator(".option .id").nth(5).inner_text() == "line\\nbreak\\ttab \\x00 null 5"
        one.assert_quiet()


def test_a_script_that_slips_in_is_not_run(browser, report_file, tmp_path):
    """The content security policy holds even where escaping would fail."""
    page = report_file.read_text(encoding="utf-8")
    evil = "<script>window.hacked = 1</script><img src='https://example.org/x.png'>"
    (tmp_path / "evil.html").write_text(page.replace("<main", evil + "<main", 1), encoding="utf-8")
    with Opened(browser, tmp_path / "evil.html") as one:
        assert one.page.evaluate("typeof window.hacked") == "undefined"
        refused = [text for text in one.complaints if "Content Security Policy" in text]
        assert len(refused) == len(one.complaints) == 2
