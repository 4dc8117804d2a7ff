import { integerBelow, type JsonObject, pick, type Random } from '@bowline/machinery';
import type { SequenceKind, Step } from './sequence.test-support.ts';

/** RANDOM_KINDS holds the kinds that random steps are generated for. */
export const RANDOM_KINDS: readonly SequenceKind[] = ['ConfigMap', 'PodTemplate', 'Widget', 'Free'];

const MANAGERS = ['a', 'b', 'c', 'kubectl'];

/**
 * randomSteps creates one object and then writes to it in every way: often to the same fields, so that managers
 * conflict.
 */
export function randomSteps(random: Random, kind: SequenceKind, count: number): Step[] {
  return Array.from({ length: count }, (_, index) => {
    const as = pick(random, MANAGERS);
    const body = { ...CONTENTS[kind]?.(random), ...(chance(random, 0.3) ? { metadata: metadata(random) } : {}) };
    if (index === 0 && chance(random, 0.5)) return { as, create: body };
    if (index === 0 || chance(random, 0.5)) return { as, apply: body, force: chance(random, 0.4) };
    const on = kind === 'Widget' && chance(random, 0.15) ? ({ on: 'status' } as const) : {};
    return chance(random, 0.2) ? { as, ...on, put: body } : { as, ...on, merge: withNulls(random, body) as object };
  });
}

const CONTENTS: Readonly<Partial<Record<SequenceKind, (random: Random) => JsonObject>>> = {
  ConfigMap: (random) => some(random, { data: () => bag(random), immutable: () => false }),
  PodTemplate: (random) => ({
    template: {
      ...some(random, {
        metadata: () =>
          some(random, { labels: () => bag(random), finalizers: () => names(random).map((n) => `t/${n}`) }),
      }),
      spec: {
        containers: [...new Set([...names(random), 'p'])].map((name) => ({
          image: 'i',
          ...some(random, {
            image: () => pick(random, ['i', 'j']),
            args: () => names(random),
            env: () => names(random).map((variable) => ({ name: variable, value: pick(random, ['1', '2']) })),
            ports: () => ports(random),
            resources: () => ({ limits: some(random, { cpu: () => pick(random, ['1', '2']), memory: () => '1Gi' }) }),
          }),
          name,
        })),
        ...some(random, { nodeSelector: () => bag(random), hostNetwork: () => false }),
      },
    },
  }),
  Widget: (random) => ({
    spec: some(random, {
      size: () => pick(random, [1, 2]),
      port: () => pick(random, [80, 'http']),
      free: () => ({ x: anything(random, 3), y: anything(random, 1) }),
      any: () => anything(random, 2),
      half: () => ({ ...some(random, { a: () => 'a', deep: () => ({ b: 'b' }) }), x: anything(random, 1) }),
      bag: () => bag(random),
      bags: () => some(random, { x: () => some(random, { a: () => '1', b: () => '2' }), y: () => ({ a: '1' }) }),
      atomicMap: () => some(random, { a: () => pick(random, ['1', '2']), b: () => '1' }),
      plain: () => names(random).map((a) => ({ a })),
      set: () => names(random),
      numbers: () => [1, 2, 3].filter(() => chance(random, 0.5)),
      map: () =>
        names(random).map((k) => ({
          k,
          ...some(random, { l: () => 2, v: () => pick(random, ['1', '2']), w: () => some(random, { x: () => '1' }) }),
        })),
      nullable: () => pick(random, [null, {}, { a: '1' }]),
      deep: () => some(random, { a: () => some(random, { b: () => some(random, { c: () => '1' }) }) }),
    }),
    ...some(random, { status: () => ({ phase: pick(random, ['a', 'b']) }), top: () => pick(random, ['a', 'b']) }),
  }),
  Free: (random) => ({ spec: { it: anything(random, 4) }, more: anything(random, 2) }),
};

function metadata(random: Random): JsonObject {
  return some(random, {
    labels: () => bag(random),
    annotations: () => bag(random),
    // The garbage collector ignores owners of an unknown kind.
    ownerReferences: () =>
      names(random).map((uid) => {
        return { apiVersion: 'unknown.test/v1', kind: 'Unknown', name: pick(random, ['x', 'y']), uid };
      }),
  });
}

function chance(random: Random, share: number): boolean {
  return random.next() < share;
}

function some(random: Random, members: Readonly<Record<string, () => unknown>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, make]) => (chance(random, 0.5) ? [[name, make()]] : [])),
  );
}

function bag(random: Random): JsonObject {
  const value = (): string => pick(random, ['1', '2']);
  return some(random, { a: value, b: value, c: value });
}

function names(random: Random): string[] {
  const all = ['p', 'q', 'r', 's'].filter(() => chance(random, 0.5));
  return chance(random, 0.5) ? all : all.toReversed();
}

function ports(random: Random): unknown[] {
  return [80, 81].flatMap((containerPort) =>
    chance(random, 0.6) ? [{ containerPort, ...some(random, { protocol: () => 'UDP' }) }] : [],
  );
}

function anything(random: Random, depth: number): unknown {
  switch (integerBelow(random, depth > 0 ? 7 : 4)) {
    case 0:
      return pick(random, ['text', '']);
    case 1:
      return pick(random, [0, 1.5]);
    case 2:
      return names(random);
    case 3:
      return {};
    default:
      return some(random, {
        a: () => anything(random, depth - 1),
        b: () => anything(random, depth - 1),
        c: () => anything(random, 0),
      });
  }
}

/** withNulls replaces some of the values that a merge patch would set by null. */
function withNulls(random: Random, value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, below]) => [
      name,
      depth > 0 && chance(random, 0.2) ? null : withNulls(random, below, depth + 1),
    ]),
  );
}
