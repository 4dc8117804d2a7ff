import type { SharedObjects } from '../../../operators/ztwim/src/operand/shared-objects.ts';
import { isDeleted, type Kind, NAMESPACE, PARENT, type Stored, storedIn } from './five-objects.ts';

// The rules of docs/operators/ztwim once more. Nothing of the operator's own implementation is used here.

const ANSWERS = ['trustDomain', 'clusterName', 'bundleConfigMap', 'jwtIssuer'] as const;
type Field = (typeof ANSWERS)[number];

/** Who has a say in each field, the most important first. */
const VOTERS: Readonly<Record<Field, readonly Kind[]>> = {
  trustDomain: [PARENT, 'SpireServer', 'SpireAgent', 'SpireOIDCDiscoveryProvider'],
  clusterName: [PARENT, 'SpireServer', 'SpireAgent'],
  bundleConfigMap: [PARENT, 'SpireServer', 'SpireAgent'],
  jwtIssuer: [PARENT, 'SpireServer', 'SpireOIDCDiscoveryProvider'],
};

/** A value that an object has, and whether the object insists on it. */
interface Claim {
  readonly kind: Kind;
  readonly value: string;
  readonly isFirm: boolean;
}

/** Answer is the expected result for a field. */
interface Answer {
  readonly field: Field;
  /** Undefined if there is none, or several. */
  readonly value: string | undefined;
  readonly leader: Kind | undefined;
  readonly opponents: readonly Claim[];
}

interface AnySpec extends Partial<Record<Field, string>> {
  readonly bundleConfig?: { readonly name: string };
  readonly identityChangePolicy?: string;
  readonly namespace?: string;
}

function specOf(object: Stored | undefined): AnySpec {
  return (object?.spec ?? {}) as AnySpec;
}

type Listed = Readonly<Record<string, unknown>>;

/** The annotations of all cases are few, and those that are not valid are slow to parse. */
const parsed = new Map<string, Listed>();

/** The values that an annotation lists; nothing if it is not a JSON object. */
function listed(text: string | undefined): Listed {
  if (text === undefined) return {};
  const known = parsed.get(text) ?? parse(text);
  parsed.set(text, known);
  return known;
}

function parse(text: string): Listed {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Listed) : {};
  } catch {
    return {};
  }
}

/** All claims about a field in order. An object that is being deleted has no say, unless it is the central one. */
function claims(field: Field, objects: SharedObjects): readonly Claim[] {
  const all = VOTERS[field].map((kind) => {
    const object = storedIn(objects, kind);
    const spec = specOf(object);
    const name = kind === PARENT && field === 'bundleConfigMap' ? spec.bundleConfig?.name : undefined;
    const value = kind !== PARENT && isDeleted(object) ? undefined : (name ?? spec[field]);
    const follows = listed(object?.metadata?.annotations?.['ztwim.io/inherited'])[field] === value;
    return { kind, value, isFirm: kind === PARENT || !follows };
  });
  return all.filter((claim): claim is Claim => claim.value !== undefined);
}

/** The first claim leads. Those that insist on another value oppose it; without a central value, all do. */
function answerOf(field: Field, objects: SharedObjects): Answer {
  const [lead, ...others] = claims(field, objects);
  if (!lead)
    return { field, value: field === 'bundleConfigMap' ? 'spire-bundle' : undefined, leader: undefined, opponents: [] };
  const opponents = others.filter(({ value, isFirm }) => value !== lead.value && (isFirm || lead.kind !== PARENT));
  return { field, value: opponents.length === 0 ? lead.value : undefined, leader: lead.kind, opponents };
}

function describe({ field, value, leader, opponents }: Answer, objects: SharedObjects): readonly string[] {
  if (opponents.length > 0) return opponents.map((each) => dispute(field, each, claims(field, objects)[0]?.value));
  if (value === undefined) return [`${field} is missing`];
  return [`${field} is ${value} (${leader === undefined ? 'Default' : leader === PARENT ? 'ZTWIM' : 'Operand'})`];
}

function dispute(field: string, { kind, value }: Claim, wanted: string | undefined): string {
  return `${field}: ${kind} has ${value}, wanted is ${wanted}`;
}

/** expectedConfig returns the expected configuration, one line per value, conflict or missing value. */
export function expectedConfig(objects: SharedObjects): readonly string[] {
  return ANSWERS.flatMap((field) => describe(answerOf(field, objects), objects));
}

/** expectedHold returns the expected reason why an operand does not act; undefined if it acts. */
export function expectedHold(objects: SharedObjects, kind: Kind): string | undefined {
  if (objects.parent === undefined) return 'ParentMissing';
  const needed = ANSWERS.filter((field) => VOTERS[field].includes(kind)).map((field) => answerOf(field, objects));
  if (needed.some(({ opponents }) => opponents.length > 0)) return 'Conflict';
  if (needed.some(({ value }) => value === undefined)) return 'Missing';
  return identityInUse(objects, needed).length > 0 ? 'IdentityChangeForbidden' : undefined;
}

/** The fields of an identity that differ from what was rendered, although that is forbidden. */
function identityInUse(objects: SharedObjects, answers: readonly Answer[]): readonly Field[] {
  if (specOf(objects.parent).identityChangePolicy !== 'Forbid') return [];
  return answers.flatMap(({ field, value }) => {
    const used = rendered(objects, field);
    return used === undefined || value === undefined || used === value ? [] : [field];
  });
}

/** What the SpireServer records as rendered. */
function rendered({ operands }: SharedObjects, field: Field): string | undefined {
  const record = listed(operands.SpireServer?.metadata?.annotations?.['ztwim.io/history'])[field];
  return (record as { readonly current?: string } | undefined)?.current;
}

/** UNUSABLE are values that schemas accept, but operands cannot use. */
export const UNUSABLE = { bundleConfigMap: 'spire-agent', jwtIssuer: 'https://user:password@a.io' } as const;

/** expectedRefusal returns the fields for which admission should refuse a change; none if it should accept it. */
export function expectedRefusal(kind: Kind, before: SharedObjects, after: SharedObjects): readonly string[] {
  const isCentral = kind === PARENT;
  const isNew = storedIn(before, kind) === undefined;
  const old = ANSWERS.map((field) => answerOf(field, before));
  const known = new Set(isCentral && isNew ? [] : old.flatMap((each) => describe(each, before)));
  const refused = new Set<string>();
  ANSWERS.forEach((field, index) => {
    const answer = answerOf(field, after);
    const was = isCentral && isNew ? undefined : old[index]?.value;
    const path =
      isCentral && field === 'bundleConfigMap' && specOf(after.parent).bundleConfig ? 'bundleConfig.name' : field;
    const isInvolved = (claim: Claim): boolean => isCentral || claim.kind === kind || answer.leader === kind;
    const wanted = claims(field, after)[0]?.value;
    if (answer.opponents.some((claim) => isInvolved(claim) && !known.has(dispute(field, claim, wanted))))
      refused.add(path);
    if (answer.value !== undefined && answer.value !== was && Object.values<string>(UNUSABLE).includes(answer.value))
      refused.add(path);
    const isMissing = answer.value === undefined && answer.opponents.length === 0;
    const isRequired = isNew ? field === 'trustDomain' || field === 'clusterName' : !known.has(`${field} is missing`);
    if (isCentral && isMissing && isRequired) refused.add(path);
    if ((field === 'trustDomain' || field === 'clusterName') && isForbidden(after, field, answer.value, was, before))
      refused.add(field);
  });
  if (isCentral) {
    const { namespace } = specOf(after.parent);
    if (namespace !== undefined && namespace !== NAMESPACE && namespace !== specOf(before.parent).namespace)
      refused.add('namespace');
  }
  return [...refused].sort();
}

/** Forbid applies to what is rendered or, before that, to what would have been. */
function isForbidden(
  { parent }: SharedObjects,
  field: Field,
  value: string | undefined,
  was: string | undefined,
  before: SharedObjects,
): boolean {
  if (specOf(parent).identityChangePolicy !== 'Forbid' || value === undefined || value === was) return false;
  const used = rendered(before, field) ?? was;
  return used !== undefined && used !== value;
}
