const storageKey = 'muster.first-day';

/** The guide for the first day stays away in a browser in which it was dismissed. */
export const isGuideDismissed = () => localStorage.getItem(storageKey) !== null;

export const dismissGuide = () => localStorage.setItem(storageKey, 'dismissed');
