/**
 * The script of the reference: it shows the filter box and hides the operations and events that do not contain all typed
 * words. Without it, the page is complete and has no box.
 */
export const filterScript = `'use strict';
const box = document.getElementById('filter');
const count = document.getElementById('filter-count');
const noMatch = document.getElementById('no-match');
const entries = Array.from(document.querySelectorAll('[data-filter]'), (element) => ({
  elements: [element, document.querySelector('.contents [href="#' + element.id + '"]').parentElement],
  text: element.dataset.filter.toLowerCase(),
}));
const groups = [...document.querySelectorAll('section.tag:not(.unfiltered), .contents ul:not(.unfiltered)')];
const unfiltered = [...document.querySelectorAll('.unfiltered')];

function apply() {
  const query = box.value.trim();
  const words = query.toLowerCase().split(/\\s+/);
  let matches = 0;
  for (const { elements, text } of entries) {
    const isMatch = words.every((word) => text.includes(word));
    if (isMatch) matches++;
    for (const element of elements) element.hidden = !isMatch;
  }
  for (const group of groups)
    group.hidden = !group.querySelector('[data-filter]:not([hidden]), li:not([hidden]) > a:not(.group)');
  for (const element of unfiltered) element.hidden = query !== '';
  count.textContent = query === '' ? '' : matches + ' of ' + entries.length + ' match';
  noMatch.hidden = matches > 0;
  noMatch.textContent = matches > 0 ? '' : 'No operation or event matches “' + query + '”. Clear the filter to see all.';
}

function clear() {
  box.value = '';
  apply();
}

box.addEventListener('input', () => {
  apply();
  scrollTo(0, 0);
});
box.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') clear();
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey;
  if (event.key !== '/' || isTyping) return;
  event.preventDefault();
  box.focus();
});
// A link to something that the filter hides shows everything again.
addEventListener('hashchange', () => {
  const target = document.getElementById(location.hash.slice(1));
  if (!target || target.checkVisibility()) return;
  clear();
  target.scrollIntoView();
});
document.querySelector('.filter').hidden = false;
// A browser that goes back to the page restores the text of the box.
if (box.value !== '') apply();
`;
