/** KnownDifference is an intentional difference of the embedded control plane, as it appears in a transcript. */
export interface KnownDifference {
  readonly reason: string;
  readonly pattern: RegExp;
  /** The replacement in both transcripts, or a function of the match. Defaults to the empty string. */
  readonly word?: string | ((found: string) => string) | undefined;
}

/** The accepted differences; any other difference fails a test. */
export const knownDifferences: readonly KnownDifference[] = [
  {
    reason: 'it does not serve these kinds, and its discovery omits them',
    pattern:
      /^(?:bindings|componentstatuses|podtemplates|replicationcontrollers|ipaddresses|servicecidrs|cronjobs) .*\n/gm,
  },
  {
    reason: 'its version identifies it',
    pattern: /\+bowline\b/g,
  },
  {
    reason: 'the real server quotes an object that it cannot decode with its metadata in a different order',
    pattern: /(?<=patch: Invalid value: )"\{.*\}"(?=: json: )/g,
    word: '"{…}"',
  },
  {
    reason:
      "it carries no descriptions of built-in kinds, which are Kubernetes' own text: fields, types, enums and defaults are compared",
    pattern: /^\$ kubectl explain (?!boat).*\n(?:(?!\$ ).*\n)*/gm,
    word: (explained) => explained.replaceAll(/^ {4,}(?!\S+\t<|enum: ).*\n|^\s*\n/gm, ''),
  },
  {
    reason: 'the same for fields that custom resources share with built-in kinds',
    pattern: /(?<=^ {2}(?:apiVersion|kind|metadata)\t<.*>\n)(?: {4}.*\n)+/gm,
  },
];

/** withoutKnownDifferences returns a transcript without the accepted differences. */
export function withoutKnownDifferences(transcript: string): string {
  return knownDifferences.reduce(
    (text, { pattern, word = '' }) => text.replaceAll(pattern, typeof word === 'string' ? () => word : word),
    transcript,
  );
}
