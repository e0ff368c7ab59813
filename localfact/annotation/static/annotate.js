// Keys, the place of marked words, and the focus after a part of the page was put in place. All else is HTML and htmx.
"use strict";

const EDITABLE = "input, textarea, select";
let waiting = false; // a request is under way
let queued = []; // keys that were pressed meanwhile
let screenThen = ""; // the screen that they were pressed on
let warnedOf = ""; // the key that would have left typed words

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches(EDITABLE);
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape" && typing) {
    leaveField();
    return;
  }
  // A key that is held down is pressed once.
  if (event.repeat || typing) return;
  if (waiting && (event.key.length === 1 || queued.length > 0)) {
    queued.push(event.key);
    event.preventDefault();
  } else if (event.key.length === 1 && press(event.key)) {
    event.preventDefault();
  }
});

/** Does what the queued keys are for, in their order; a field that one of them opened gets the others as its words. */
function pressQueued() {
  while (queued.length > 0 && !waiting) {
    const key = queued.shift();
    const field = document.activeElement;
    if (!field.matches(EDITABLE)) {
      if (key.length === 1) press(key);
    } else if (key === "Escape") {
      leaveField();
    } else if (key.length === 1 || (key === "Enter" && field.matches("textarea"))) {
      field.setRangeText(key === "Enter" ? "\n" : key, field.selectionStart, field.selectionEnd, "end");
    }
  }
}

function leaveField() {
  document.activeElement.blur();
  focusCurrent();
}

/** Does what a key is for on this page; false where it is for nothing. */
function press(key) {
  takeMarked(); // the event about it may be yet to come
  const found = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key && !one.disabled);
  if (!found) return false;
  if (found.matches(EDITABLE)) {
    found.focus();
    if (!found.matches("[data-quote]")) found.select();
  } else {
    if (unsaved(found)) return true;
    found.click();
  }
  return true;
}

/** Whether words that somebody typed would be lost, which is said once: the same key again leaves them. */
function unsaved(pressed) {
  const typed = [...document.querySelectorAll("#work textarea, #work input:not([type=hidden]):not([data-quoted])")].find(
    (one) => one.value !== one.defaultValue && one.value !== one.dataset.marked && one.form !== pressed.form,
  );
  if (!typed || warnedOf === pressed.dataset.key) return false;
  warnedOf = pressed.dataset.key;
  document.getElementById("said").textContent = "What you typed is not saved yet. The same key again leaves it.";
  return true;
}

document.addEventListener("htmx:beforeRequest", () => {
  waiting = true;
  screenThen = screenNow();
});
document.addEventListener("htmx:afterRequest", (event) => {
  const failed = event.detail.xhr.status === 0;
  document.getElementById("trouble").hidden = !failed;
  if (failed) {
    waiting = false;
    queued = [];
  }
});
document.addEventListener("htmx:afterSwap", () => {
  if (screenNow() !== screenThen) queued = []; // they were meant for what was there before
});
// Not before: until then htmx does not know the new forms, and a key would load the whole page.
document.addEventListener("htmx:afterSettle", () => {
  waiting = false;
  warnedOf = "";
  focusCurrent();
  pressQueued();
});
window.addEventListener("DOMContentLoaded", focusCurrent);

function screenNow() {
  return document.getElementById("work")?.dataset.screen ?? "";
}

function focusCurrent() {
  const found = document.querySelector("[data-focus]");
  if (!found) return;
  found.focus({ preventScroll: true });
  const top = found.getBoundingClientRect().top;
  const block = found.offsetHeight > window.innerHeight / 2 ? "start" : "center";
  if (top < 0 || top > window.innerHeight / 2) found.scrollIntoView({ block });
}

// Marked words: their places go into the forms that place a claim, as characters of the response.
document.addEventListener("selectionchange", takeMarked);

function takeMarked() {
  const selection = document.getSelection();
  const text = document.getElementById("text");
  if (!text || selection.isCollapsed || !text.contains(selection.anchorNode) || !text.contains(selection.focusNode)) return;
  const range = selection.getRangeAt(0);
  const start = placeOf(range.startContainer, range.startOffset, false);
  const end = placeOf(range.endContainer, range.endOffset, true);
  if (start === null || end === null || start >= end) return;
  const words = wordsBetween(start, end);
  for (const form of document.querySelectorAll("form[data-place]")) {
    form.elements.start.value = start;
    form.elements.end.value = end;
    const quoted = form.querySelector("[data-quoted]");
    quoted.value = words;
    const claim = form.querySelector("[data-quote]");
    if (claim && (claim.value === "" || claim.value === claim.dataset.marked)) claim.value = claim.dataset.marked = words;
  }
}

// Words that are typed count by themselves.
document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-quoted]")) return;
  event.target.form.elements.start.value = "";
  event.target.form.elements.end.value = "";
});

/** The place of a point in the page as characters (of Python) of the response; null outside of it. */
function placeOf(node, offset, ends) {
  if (node.nodeType !== Node.TEXT_NODE) {
    // Between the pieces: at the end of the one before, or at the beginning of the one behind.
    const children = [...node.childNodes];
    const piece = ends ? children.slice(0, offset).reverse().find(isPiece) : children.slice(offset).find(isPiece);
    if (!piece) return null;
    return Number(piece.dataset.start) + (ends ? lengthOf(piece) : 0);
  }
  const piece = node.parentElement.closest("[data-start]");
  if (!piece) {
    // In the number of a claim.
    let beside = node.parentElement.closest(".number");
    while (beside && !isPiece(beside)) beside = ends ? beside.previousSibling : beside.nextSibling;
    return beside ? Number(beside.dataset.start) + (ends ? lengthOf(beside) : 0) : null;
  }
  const before = piece.hasAttribute("data-escape") ? (ends ? 1 : 0) : [...node.data.slice(0, offset)].length;
  return Number(piece.dataset.start) + before;
}

/** The response's words there, without the numbers between them and without what cannot be seen. */
function wordsBetween(start, end) {
  const parts = [...document.querySelectorAll("#text [data-start]")].filter((piece) => !piece.hasAttribute("data-escape"));
  const cut = parts.map((piece) => {
    const from = Number(piece.dataset.start);
    return [...piece.textContent].slice(Math.max(0, start - from), Math.max(0, end - from)).join("");
  });
  return cut.join("");
}

function isPiece(node) {
  return node.nodeType === Node.ELEMENT_NODE && node.hasAttribute("data-start");
}

function lengthOf(piece) {
  return piece.hasAttribute("data-escape") ? 1 : [...piece.textContent].length;
}
