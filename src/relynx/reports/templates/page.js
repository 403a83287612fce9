// Put the parts together.

const browser = sequenceBrowser(document.getElementById("sequence-browser"));

patternTable(document.getElementById("pattern-table"), (pattern) => {
  browser.withPattern(pattern);
  document.getElementById("sequences").scrollIntoView();
  document.querySelector("#sequence-browser .listbox").focus({ preventScroll: true });
});

const themeButton = document.getElementById("theme");
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const set = document.documentElement.dataset.theme;
  return set ? set === "dark" : prefersDark.matches;
}

function nameTheme() {
  themeButton.textContent = isDark() ? "Light" : "Dark";
  themeButton.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
}

themeButton.hidden = false;
themeButton.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
});
prefersDark.addEventListener("change", nameTheme);
nameTheme();

// On paper everything is open.
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details:not([open])")) {
    one.open = true;
    one.dataset.opened = "";
    one.dispatchEvent(new Event("toggle")); // its own comes too late
  }
});
addEventListener("afterprint", () => {
  for (const one of document.querySelectorAll("details[data-opened]")) {
    one.open = false;
    delete one.dataset.opened;
  }
});

// For tests, and for readers who use the console.
window.relynx = {
  data,
  isCovered,
  readSequence,
  matches: (pattern, sequence, limit) => {
    const { facts, graphs } = readSequence(sequence);
    return findMatches(data.patterns[pattern], facts, graphs, data.objectIdentity, limit);
  },
  contributions,
  decodeFacts,
  makeGraph,
  findMatches,
};
