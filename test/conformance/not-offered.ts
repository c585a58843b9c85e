/** What is not claimed, or not tested; none is part of what a revision demands. */
export const NOT_OFFERED: ReadonlyMap<string, string> = new Map([
  ['tasks-status-notifications', 'The suite skips it: its own test is not written yet.'],
]);
