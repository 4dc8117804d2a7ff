import { integerBelow, pick, type Random } from '@bowline/machinery';
import { ANNOTATIONS } from '../../../operators/ztwim/src/api/names.ts';
import type { SharedField, SharedValues } from '../../../operators/ztwim/src/resolve/shared-config.ts';
import { type Content, KINDS, type Kind, NAMESPACE, PARENT } from './five-objects.ts';
import { UNUSABLE } from './oracle.ts';

/** Event is something that happens to the five objects. */
export type Event =
  | { readonly type: 'create'; readonly kind: Kind; readonly content: Content; readonly admission: Admission }
  /** A value that is null is removed. */
  | {
      readonly type: 'change';
      readonly kind: Kind;
      readonly values: Readonly<Partial<Record<SharedField, string | null>>>;
      readonly other?: string | undefined;
      readonly policy?: 'Cascade' | 'Forbid' | undefined;
      readonly admission: Admission;
    }
  /** Admission does not review annotations. */
  | { readonly type: 'annotate'; readonly kind: Kind; readonly annotations: Readonly<Record<string, string | null>> }
  /** The object gets a deletionTimestamp; `remove` is the end of its deletion. */
  | { readonly type: 'delete' | 'remove'; readonly kind: Kind }
  /** A run of the controller that writes into operands, with an old cache, and killed after some of them. */
  | { readonly type: 'run'; readonly lag: number; readonly operands: number }
  /** A run of the controller of the server, which records the identity that it renders. */
  | { readonly type: 'render' };

/** Admission is how the API server treats a request: without webhooks, or with webhooks whose cache may be old. */
export interface Admission {
  readonly isActive: boolean;
  /** How many events the cache is behind. */
  readonly lag: number;
}

/** Case is a history of the five objects, and contents that are created in two orders. */
export interface Case {
  readonly events: readonly Event[];
  readonly contents: Readonly<Partial<Record<Kind, Content>>>;
  readonly orders: readonly [Order, Order];
}

/** Order is in which order contents are created, and what happens in between. */
export interface Order {
  readonly kinds: readonly Kind[];
  /** After which of them the controller runs. */
  readonly runsAfter: readonly Kind[];
  /** Operands that first have another content, and are then recreated. */
  readonly detours: Readonly<Partial<Record<Kind, Content>>>;
  readonly isAdmissionActive: boolean;
}

const FIELDS: Readonly<Record<Kind, readonly SharedField[]>> = {
  [PARENT]: ['trustDomain', 'clusterName', 'bundleConfigMap', 'jwtIssuer'],
  SpireServer: ['trustDomain', 'clusterName', 'bundleConfigMap', 'jwtIssuer'],
  SpireAgent: ['trustDomain', 'clusterName', 'bundleConfigMap'],
  SpiffeCSIDriver: [],
  SpireOIDCDiscoveryProvider: ['trustDomain', 'jwtIssuer'],
};

/** Few values, so that objects often agree. */
const VALUES: Readonly<Record<SharedField, readonly string[]>> = {
  trustDomain: ['a.io', 'a.io', 'a.io', 'b.io', 'c.io'],
  clusterName: ['one', 'one', 'one', 'two'],
  bundleConfigMap: ['spire-bundle', 'bundle', 'bundle', UNUSABLE.bundleConfigMap],
  jwtIssuer: ['https://a.io', 'https://a.io', 'https://a.io', 'https://b.io', UNUSABLE.jwtIssuer],
};

const BROKEN_ANNOTATIONS = [
  '',
  '{',
  'null',
  '[]',
  '"a.io"',
  '{"trustDomain":1}',
  '{"__proto__":{"trustDomain":"a.io"}}',
];

/** randomCase returns a case. */
export function randomCase(random: Random): Case {
  const [first, ...others] = KINDS;
  const kinds = isLikely(random, 0.5) ? [first, ...shuffled(random, others)] : shuffled(random, KINDS);
  const created = [...kinds.map((kind) => creationOf(random, kind)), { type: 'render' } as const];
  const events = Array.from({ length: 4 + integerBelow(random, 12) }, () => randomEvent(random));
  // Most cases begin with all objects, and not all at once.
  const at = isLikely(random, 0.8) ? 0 : integerBelow(random, events.length);
  const present = KINDS.filter(() => isLikely(random, 0.85));
  const contents = Object.fromEntries(present.map((kind) => [kind, contentOf(random, kind)]));
  return {
    events: events.toSpliced(at, 0, ...created),
    contents,
    orders: [randomOrder(random, present), randomOrder(random, present)],
  };
}

function shuffled<T>(random: Random, items: readonly T[]): readonly T[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

function creationOf(random: Random, kind: Kind): Event {
  return { type: 'create', kind, content: contentOf(random, kind), admission: admissionOf(random) };
}

function isLikely(random: Random, share: number): boolean {
  return random.next() < share;
}

function randomEvent(random: Random): Event {
  const kind = pick(random, KINDS);
  const at = random.next();
  if (at < 0.2) return creationOf(random, kind);
  if (at < 0.5) return changeOf(random, kind);
  if (at < 0.58) return { type: 'annotate', kind, annotations: annotationChange(random, kind) };
  if (at < 0.6) return { type: 'delete', kind };
  if (at < 0.65) return { type: 'remove', kind };
  if (at < 0.88) return { type: 'run', lag: integerBelow(random, 3), operands: 1 + integerBelow(random, 4) };
  return { type: 'render' };
}

function admissionOf(random: Random): Admission {
  return { isActive: isLikely(random, 0.75), lag: isLikely(random, 0.8) ? 0 : 1 + integerBelow(random, 2) };
}

function changeOf(random: Random, kind: Kind): Event {
  const values = Object.fromEntries(
    FIELDS[kind]
      .filter(() => isLikely(random, 0.35))
      .map((field) => [field, isLikely(random, 0.25) ? null : pick(random, VALUES[field])]),
  );
  const other = isLikely(random, 0.5) ? pick(random, ['x', 'y']) : undefined;
  const policy = kind === PARENT && isLikely(random, 0.2) ? pick(random, ['Cascade', 'Forbid'] as const) : undefined;
  return { type: 'change', kind, values, other, policy, admission: admissionOf(random) };
}

/** contentOf returns the content of an object of a kind. */
function contentOf(random: Random, kind: Kind): Content {
  const share = kind === PARENT ? 0.85 : 0.25;
  const values: SharedValues = Object.fromEntries(
    FIELDS[kind]
      .filter((field) => isLikely(random, field === 'bundleConfigMap' ? share / 2 : share))
      .map((field) => [field, pick(random, VALUES[field])]),
  );
  if (kind !== PARENT) return { values, annotations: annotationsOf(random, values) };
  return {
    values,
    hasBundleConfig: isLikely(random, 0.5),
    policy: isLikely(random, 0.2) ? 'Forbid' : undefined,
    namespace: isLikely(random, 0.05) ? 'elsewhere' : isLikely(random, 0.2) ? NAMESPACE : undefined,
  };
}

function annotationsOf(random: Random, values: SharedValues): Readonly<Record<string, string>> {
  const inherited = inheritedOf(random, values);
  return {
    ...(inherited === undefined ? {} : { [ANNOTATIONS.inherited]: inherited }),
    ...(isLikely(random, 0.15) ? { [ANNOTATIONS.inheritIntoSpec]: pick(random, ['false', 'false', 'true']) } : {}),
  };
}

function inheritedOf(random: Random, values: SharedValues): string | undefined {
  const at = random.next();
  if (at < 0.5) return undefined;
  if (at < 0.75) return JSON.stringify(values);
  if (at < 0.9) return JSON.stringify(contentOf(random, PARENT).values);
  return pick(random, BROKEN_ANNOTATIONS);
}

function annotationChange(random: Random, kind: Kind): Readonly<Record<string, string | null>> {
  if (isLikely(random, 0.4)) return { [ANNOTATIONS.inheritIntoSpec]: isLikely(random, 0.5) ? 'false' : null };
  const { values } = contentOf(random, kind);
  return { [ANNOTATIONS.inherited]: inheritedOf(random, values) ?? null };
}

function randomOrder(random: Random, present: readonly Kind[]): Order {
  const detours = present.filter((kind) => kind !== PARENT && isLikely(random, 0.2));
  return {
    kinds: shuffled(random, present),
    runsAfter: present.filter(() => isLikely(random, 0.5)),
    detours: Object.fromEntries(detours.map((kind) => [kind, contentOf(random, kind)])),
    isAdmissionActive: isLikely(random, 0.5),
  };
}
