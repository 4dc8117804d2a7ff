import {
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  integerBelow,
  type Random,
} from '@bowline/machinery';

/** No vowels and no characters that are easily confused, so that generated names spell no words. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** The API server's limit, which keeps a generated name within the length of a label. */
const MAX_PREFIX_LENGTH = 63 - SUFFIX_LENGTH;

/** generateName returns the prefix followed by a random suffix. */
export function generateName(prefix: string, random: Random): string {
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => LETTERS[integerBelow(random, LETTERS.length)]).join('');
  return prefix.slice(0, MAX_PREFIX_LENGTH) + suffix;
}

/** NameRule selects the syntax of the names of a kind. */
export type NameRule = 'subdomain' | 'label' | 'service' | 'path';

/** nameProblems returns the API server's error messages for a name that breaks the rule. */
export function nameProblems(name: string, rule: NameRule): string[] {
  switch (rule) {
    case 'subdomain':
      return dnsSubdomainProblems(name);
    case 'label':
      return dnsLabelProblems(name);
    case 'service':
      return dns1035LabelProblems(name);
    case 'path':
      return namePathProblems(name);
  }
}

/** namePathProblems validates a name that may contain colons and capitals, but must be a valid path segment. */
export function namePathProblems(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((mark) => name.includes(mark)).map((mark) => `may not contain '${mark}'`);
}
