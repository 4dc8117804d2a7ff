/** The part of a placeholder that stands for the install's name. Names in URLs and selectors do not contain it. */
const INSTALL = '(own)';

/**
 * ownName returns the placeholder for the name of an object of the operator's own install: `<install>-<suffix>`, or
 * `<install>` without a suffix. The name of the install is known only where the operator runs.
 */
export function ownName(suffix?: string): string {
  return suffix === undefined ? INSTALL : `${INSTALL}-${suffix}`;
}

/** resolveOwnName replaces the placeholder in a name or a field selector; other texts are returned unchanged. */
export function resolveOwnName(text: string, installName: string): string {
  return text.replace(INSTALL, () => installName);
}
