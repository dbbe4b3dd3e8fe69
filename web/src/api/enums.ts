/** All values of an enum of the API, in the order they are shown in: the compiler tells when one comes or goes. */
export const everyOf = <Value extends string>(values: Record<Value, true>) => Object.keys(values) as Value[];
