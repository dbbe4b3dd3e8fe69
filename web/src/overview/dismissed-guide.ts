import { browserStorage } from '../api/storage.ts';

const storageKey = 'muster.first-day';

/** The guide for the first day stays away in a browser in which it was dismissed. */
export const isGuideDismissed = () => browserStorage.getItem(storageKey) !== null;

export const dismissGuide = () => browserStorage.setItem(storageKey, 'dismissed');
