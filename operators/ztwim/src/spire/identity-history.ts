/** IdentityHistory is what was rendered for a SpireServer before, as its annotation records it. */
export interface IdentityHistory {
  readonly trustDomain: {
    readonly first: string;
    readonly current: string;
    readonly previous?: string | undefined;
    /** When the current one replaced the previous one. */
    readonly changedAt?: string | undefined;
  };
  readonly clusterName: { readonly current: string; readonly previous?: string | undefined };
}

/** Identity is the part of the shared values that identities consist of. */
export interface Identity {
  readonly trustDomain: string;
  readonly clusterName: string;
}

/** nextHistory returns the history in which an identity is the current one. `at` is the time of a change. */
export function nextHistory(
  known: IdentityHistory | undefined,
  { trustDomain, clusterName }: Identity,
  at?: string,
): IdentityHistory {
  if (known === undefined)
    return { trustDomain: { first: trustDomain, current: trustDomain }, clusterName: { current: clusterName } };
  const { first, current: lastDomain } = known.trustDomain;
  const { current: lastName } = known.clusterName;
  return {
    trustDomain:
      lastDomain === trustDomain
        ? known.trustDomain
        : { first, current: trustDomain, previous: lastDomain, ...(at === undefined ? {} : { changedAt: at }) },
    clusterName: lastName === clusterName ? known.clusterName : { current: clusterName, previous: lastName },
  };
}

/** writeHistory returns the text of the annotation. */
export function writeHistory(history: IdentityHistory): string {
  return JSON.stringify(history);
}

/** readHistory parses the annotation. One that is not valid counts as absent: it is only lost if someone edits it. */
export function readHistory(text: string | undefined): IdentityHistory | undefined {
  if (text === undefined) return undefined;
  let parsed: Partial<Record<string, Partial<Record<string, unknown>>>> | null;
  try {
    parsed = JSON.parse(text) as typeof parsed;
  } catch {
    return undefined;
  }
  const { trustDomain, clusterName } = parsed ?? {};
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
  if (!isText(trustDomain?.first) || !isText(trustDomain.current) || !isText(clusterName?.current)) return undefined;
  const { previous: previousDomain, changedAt } = trustDomain;
  const { previous: previousName } = clusterName;
  return {
    trustDomain: {
      first: trustDomain.first,
      current: trustDomain.current,
      ...(isText(previousDomain) ? { previous: previousDomain } : {}),
      ...(isText(changedAt) ? { changedAt } : {}),
    },
    clusterName: { current: clusterName.current, ...(isText(previousName) ? { previous: previousName } : {}) },
  };
}
