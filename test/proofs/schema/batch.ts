import type { Random } from '@bowline/machinery';
import {
  checkSchema,
  costProblems,
  readObject,
  type StructuralSchema,
  validateObject,
} from '@bowline/machinery/schema';
import type { Client } from '@bowline/runtime/client';
import { brokenSchema } from './broken-schema.ts';
import {
  changeKind,
  createKind,
  type ProbeKind,
  probeKind,
  probeObject,
  removeKind,
  tryCreate,
  tryUpdate,
  type Verdict,
} from './oracle.ts';
import { chance, randomSchema } from './random-schema.ts';
import { damaged, validValue } from './random-value.ts';

const SCHEMAS_PER_BATCH = 30;
const BROKEN_PER_BATCH = 12;
const CREATES_PER_SCHEMA = 6;
const UPDATES_PER_SCHEMA = 2;
const CONCURRENCY = 16;

/** CASES_PER_BATCH is the number of cases of one kind. */
export const CASES_PER_BATCH = SCHEMAS_PER_BATCH * (CREATES_PER_SCHEMA + UPDATES_PER_SCHEMA);

/** Tally counts the results. */
export interface Tally {
  cases: number;
  creates: number;
  updates: number;
  accepted: number;
  refused: number;
  schemas: number;
  /** Schemas rejected by both. */
  refusedSchemas: number;
  /** Schemas with an intentional defect. */
  brokenSchemas: number;
  known: Record<string, number>;
  readonly violations: { seed: number; message: string }[];
}

/** knownDifferences are where we answer otherwise on purpose, and why. They are counted, not forgotten. */
export const knownDifferences: Readonly<Record<string, string>> = {
  'undecodable embedded object':
    'an embedded object whose apiVersion, kind or metadata has the wrong JSON type is rejected with 400 while the request is decoded; we reject it with the same message as a validation problem',
};

interface Batch {
  readonly client: Client;
  readonly random: Random;
  readonly seed: number;
  readonly tally: Tally;
  readonly most: number;
}

interface Case {
  readonly index: number;
  readonly field: string;
  readonly value: unknown;
  /** The value that is stored before the schema applies. */
  readonly old?: unknown;
}

/** runBatch installs one kind with many random schemas, each in its own field, and tries values on it. */
export async function runBatch({ client, random, seed, tally, most }: Batch): Promise<void> {
  const probe = probeKind(`probe${seed}x`);
  const fields = await acceptedFields(client, random, seed, tally);
  const root = rootOf(fields);
  const cases = casesFor(random, fields).slice(0, most);
  const lax = {
    type: 'object',
    properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  };
  const installed = await createKind(client, probe, lax);
  if (installed.status !== 200) throw new Error(`cannot install the kind of seed ${seed}: ${installed.message}`);
  const stored = cases.filter((each) => 'old' in each);
  await eachOf(stored, async ({ index, field, old }) => {
    const verdict = await tryCreate(
      client,
      probe,
      probeObject(probe, { spec: { [field]: old } }, `old-${index}`),
      false,
    );
    if (verdict.status >= 300) throw new Error(`cannot store the old value of seed ${seed}: ${verdict.message}`);
  });
  const changed = await changeKind(client, probe, root);
  if (changed.status !== 200) {
    tally.violations.push({ seed, message: `the schemas together are rejected: ${changed.message.slice(0, 500)}` });
    return;
  }
  await inForce(client, probe);
  await eachOf(cases, async (each) => {
    const violation = await compare(client, probe, root, each, tally);
    if (violation !== undefined) tally.violations.push({ seed, message: violation });
  });
  await removeKind(client, probe);
}

/** The schemas that the API server accepts. A schema rejected by only one side is a violation. */
async function acceptedFields(
  client: Client,
  random: Random,
  seed: number,
  tally: Tally,
): Promise<Map<string, StructuralSchema>> {
  const sound = Array.from({ length: SCHEMAS_PER_BATCH }, (_, index) => [`f${index}`, randomSchema(random)] as const);
  const broken = Array.from({ length: BROKEN_PER_BATCH }, (_, index) => [`b${index}`, brokenSchema(random)] as const);
  tally.brokenSchemas += broken.length;
  const candidates = [...sound, ...broken];
  const fields = new Map<string, StructuralSchema>();
  const dry = probeKind(`dry${seed}x`);
  await eachOf(candidates, async ([field, schema]) => {
    tally.schemas++;
    const verdict = await createKind(client, dry, rootOf(new Map([[field, schema]])), true);
    const problems = checkSchema(rootOf(new Map([[field, schema]])), { isResource: true });
    const cost = costDifference(verdict, rootOf(new Map([[field, schema]])));
    if (cost !== undefined) tally.violations.push({ seed, message: `schema ${JSON.stringify(schema)}: ${cost}` });
    else if (verdict.status === 200 && problems.length === 0) fields.set(field, schema);
    else if (verdict.status === 422 && problems.length > 0) tally.refusedSchemas++;
    else {
      const [ours] = problems;
      const message = `schema ${JSON.stringify(schema)}: server: ${verdict.message.slice(0, 400) || 'accepted'}, ours: ${ours === undefined ? 'accepted' : `${ours.path}: ${ours.problem}`}`;
      tally.violations.push({ seed, message });
    }
  });
  // In the order of creation, regardless of the order of responses, so that seeds are reproducible.
  return new Map(sound.flatMap(([field, schema]) => (fields.has(field) ? [[field, schema] as const] : [])));
}

/** Messages of the server about the costs of rules that differ from ours. */
function costDifference({ causes }: Verdict, root: StructuralSchema): string | undefined {
  const theirs = causes.filter(({ message }) => /cost (exceeds|total)|cost limit/.test(message));
  if (theirs.length === 0) return undefined;
  const { single, together } = costProblems(root, { isUnchanged: false });
  const at = 'spec.validation.openAPIV3Schema';
  const ours = new Set(
    [...single, ...together].map(({ path, text }) =>
      [at, path].filter(Boolean).join('.').concat(`: Forbidden: ${text}`),
    ),
  );
  const missing = theirs.map(({ field, message }) => `${field}: ${message}`).filter((each) => !ours.has(each));
  return missing.length === 0
    ? undefined
    : `server reports ${missing[0]}, we report ${[...ours].join('; ') || 'no costs'}`;
}

function rootOf(fields: ReadonlyMap<string, StructuralSchema>): StructuralSchema {
  const properties = { ...Object.fromEntries(fields), canary: { type: 'integer' as const } };
  return { type: 'object', properties: { spec: { type: 'object', properties } } };
}

function casesFor(random: Random, fields: ReadonlyMap<string, StructuralSchema>): Case[] {
  const cases: Case[] = [];
  for (const [field, schema] of fields) {
    for (let count = 0; count < CREATES_PER_SCHEMA; count++) {
      cases.push({ index: cases.length, field, value: randomValue(random, schema) });
    }
    for (let count = 0; count < UPDATES_PER_SCHEMA; count++) {
      const old = randomValue(random, schema);
      const value = chance(random, 0.7) ? damaged(random, old) : randomValue(random, schema);
      cases.push({ index: cases.length, field, value, old });
    }
  }
  return cases;
}

function randomValue(random: Random, schema: StructuralSchema): unknown {
  const value = validValue(random, schema);
  return chance(random, 0.5) ? damaged(random, value) : value;
}

/** A changed schema applies a moment after the CRD was written. */
async function inForce(client: Client, probe: ProbeKind): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt++) {
    const verdict = await tryCreate(client, probe, probeObject(probe, { spec: { canary: 'not a number' } }, 'canary'));
    if (verdict.status === 422) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('the schema did not take effect');
}

async function compare(
  client: Client,
  probe: ProbeKind,
  root: StructuralSchema,
  each: Case,
  tally: Tally,
): Promise<string | undefined> {
  const isUpdate = 'old' in each;
  const name = isUpdate ? `old-${each.index}` : 'probe';
  const object = probeObject(probe, { spec: { [each.field]: each.value } }, name);
  const verdict = isUpdate ? await tryUpdate(client, probe, object) : await tryCreate(client, probe, object);
  tally.cases++;
  if (isUpdate) tally.updates++;
  else tally.creates++;
  const written = asSent(object);
  const problems = validateObject(written, root, {
    oldObject: isUpdate ? asSent(probeObject(probe, { spec: { [each.field]: each.old } }, name)) : undefined,
  });
  if (problems.length === 0) tally.accepted++;
  else tally.refused++;
  if (verdict.status === 400 && /cannot be handled as/.test(verdict.message) && problems.length > 0) {
    const [, decoding = ''] = verdict.message.split('cannot be handled as a ');
    const [, unreadable = ''] = /^\w+: ([^:]+): /.exec(decoding) ?? [];
    if (unreadable !== '' && problems.some(({ field }) => field.startsWith(unreadable))) {
      tally.known['undecodable embedded object'] = (tally.known['undecodable embedded object'] ?? 0) + 1;
      return undefined;
    }
  }
  return difference(verdict, problems, readObject(written, root), each, root);
}

/** Values that JSON cannot express, such as negative zero, do not reach the server. */
function asSent(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function difference(
  verdict: Verdict,
  problems: readonly { field: string; reason: string; message: string }[],
  ours: unknown,
  each: Case,
  root: StructuralSchema,
): string | undefined {
  const theirs = lines(verdict.causes);
  const mine = lines(problems);
  const spec = (object: unknown): unknown => (object as { spec?: unknown } | undefined)?.spec;
  const isSame = theirs.join('\n') === mine.join('\n') && (verdict.status === 200) === (problems.length === 0);
  const isStored = verdict.status !== 200 || sorted(spec(verdict.object)) === sorted(spec(ours));
  if (isSame && isStored) return undefined;
  const schema = root.properties?.spec?.properties?.[each.field];
  return JSON.stringify({
    schema,
    value: each.value,
    ...('old' in each ? { old: each.old } : {}),
    server: verdict.status === 200 ? 'accepted' : theirs.length > 0 ? theirs : verdict.message.slice(0, 300),
    ours: mine.length === 0 ? 'accepted' : mine,
    ...(isStored ? {} : { stored: spec(verdict.object), wouldStore: spec(ours) }),
  });
}

function lines(problems: readonly { field: string; reason: string; message: string }[]): string[] {
  return problems.map(({ field, reason, message }) => `${field} ${reason} ${message}`).sort();
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
    }),
  );
}
