/** NameRules describes which names a file system treats as the same. */
export interface NameRules {
  /** Whether names that differ only in case are two files. */
  readonly isCaseSensitive: boolean;
  /** Whether names that differ only in Unicode normalisation are two files. */
  readonly isNormalizationSensitive: boolean;
}

/** EXACT_NAMES are the rules of most Linux file systems: different bytes are different files. */
export const EXACT_NAMES: NameRules = { isCaseSensitive: true, isNormalizationSensitive: true };

/**
 * foldCase maps texts that differ only in case to the same text. Upper case first: it also maps letters such as the
 * long s, which has no lower case of its own.
 */
export function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase();
}

/** pathFolder returns a function that maps the paths of one file to the same text. */
export function pathFolder({ isCaseSensitive, isNormalizationSensitive }: NameRules): (path: string) => string {
  const normalize = (path: string): string => (isNormalizationSensitive ? path : path.normalize('NFC'));
  return isCaseSensitive ? normalize : (path) => normalize(foldCase(normalize(path)));
}
