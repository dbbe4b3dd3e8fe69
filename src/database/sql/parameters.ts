/** Whether these are not the values of a statement but lists of values, each for one run of it. */
export const isBatch = (parameters: unknown): parameters is unknown[][] =>
  Array.isArray(parameters) && Array.isArray(parameters[0]);
