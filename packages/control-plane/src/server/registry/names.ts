import {
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  integerBelow,
  type Random,
} from '@bowline/machinery';

/** No vowels, and nothing that is easily mistaken for another: generated names spell no words. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** The API server's: a suffix still makes a name that fits a label. */
const LONGEST_PREFIX = 63 - SUFFIX_LENGTH;

/** generateName makes a name that begins with what was asked for. */
export function generateName(prefix: string, random: Random): string {
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => LETTERS[integerBelow(random, LETTERS.length)]).join('');
  return prefix.slice(0, LONGEST_PREFIX) + suffix;
}

/** NameRule says what names of a kind look like. */
export type NameRule = 'subdomain' | 'label' | 'service' | 'path';

/** nameProblems is what the API server says of a name that breaks the rule. */
export function nameProblems(name: string, rule: NameRule): string[] {
  switch (rule) {
    case 'subdomain':
      return dnsSubdomainProblems(name);
    case 'label':
      return dnsLabelProblems(name);
    case 'service':
      return dns1035LabelProblems(name);
    case 'path':
      return pathProblems(name);
  }
}

/** RBAC's names may hold colons and capitals, but must stand in a path. */
function pathProblems(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((mark) => name.includes(mark)).map((mark) => `may not contain '${mark}'`);
}
