import { ConfigMap, Role, Service, ServiceAccount } from '@bowline/kubernetes';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findBrokenReferences } from '../testing/find-broken-references.test-support.ts';
import {
  externalsOf,
  type GeneratedInputs,
  generatedInputs,
  renderAll,
} from '../testing/generated-inputs.test-support.ts';
import type { Child } from './child.ts';

const externals = { configMaps: ['spire-bundle'] };
const complete = renderAll({ server: { spec: { federation: {}, ingress: {} } }, agent: {}, csi: {}, oidc: {} });

const without = (kind: { readonly kind: string }, name: string): readonly Child[] =>
  complete.filter(({ resource, object }) => resource.kind !== kind.kind || object.metadata?.name !== name);

/** Returns the same objects with a text replaced wherever it occurs in one of them. */
const changed = (kind: string, name: string, from: string, to: string): readonly Child[] =>
  complete.map((each) => {
    if (each.resource.kind !== kind || each.object.metadata?.name !== name) return each;
    return { ...each, object: JSON.parse(JSON.stringify(each.object).replaceAll(from, to)) as typeof each.object };
  });

describe('rendered objects', () => {
  it('name only objects, ports, keys and paths that exist', () => {
    fc.assert(
      fc.property(generatedInputs, (inputs) => {
        expect(findBrokenReferences(renderAll(inputs), externalsOf(inputs))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it('are the same for a spec with its fields in another order', () => {
    fc.assert(
      fc.property(generatedInputs, (inputs) => {
        expect(JSON.stringify(renderAll(reordered(inputs)).map(canonical))).toBe(
          JSON.stringify(renderAll(inputs).map(canonical)),
        );
      }),
      { numRuns: 30 },
    );
  });
});

describe('findBrokenReferences', () => {
  it('finds nothing in complete objects', () => {
    expect(findBrokenReferences(complete, externals)).toEqual([]);
  });

  it.each<[string, readonly Child[], string]>([
    ['a missing ConfigMap', without(ConfigMap, 'spire-agent'), 'spire-agent names the ConfigMap spire-agent'],
    ['a missing ServiceAccount', without(ServiceAccount, 'spire-agent'), 'missing ServiceAccount spire-agent'],
    ['a missing Service', without(Service, 'spire-server'), 'missing Service spire-server'],
    ['a missing Role', without(Role, 'spire-bundle'), 'missing role spire-bundle'],
    ['an object that is rendered twice', [...complete, ...complete.slice(0, 1)], 'is rendered twice'],
    ['an unknown target port', changed('Service', 'spire-agent', '"metrics"', '"other"'), 'missing port other'],
    ['an unknown port of a probe', changed('DaemonSet', 'spire-agent', '"port":"healthz"', '"port":"x"'), 'port x'],
    ['a port that is named twice', changed('StatefulSet', 'spire-server', '"https"', '"grpc"'), 'a port twice'],
    [
      'a name of a port that is too long',
      changed('StatefulSet', 'spire-server', 'ctrlmgr-healthz', 'ctrl-mgr-healthz'),
      'cannot name a port',
    ],
    [
      'a file that does not exist',
      changed('ConfigMap', 'spire-server', '"server.conf"', '"other.conf"'),
      'which no ConfigMap has',
    ],
    [
      'a path without a volume',
      changed('ConfigMap', 'spire-server', '/run/spire/data/keys.json', '/data/keys.json'),
      'no volume for keys_path /data/keys.json',
    ],
    ['a port that the pod does not declare', changed('ConfigMap', 'spire-agent', '9982', '9983'), 'port 9983'],
    [
      'a volume that is not mounted',
      changed('DaemonSet', 'spire-agent', '{"name":"bundle","configMap"', '{"name":"other","configMap"'),
      'does not mount the volume other',
    ],
    [
      'a selector of no pods',
      changed('Service', 'spire-agent', '"node-agent"', '"other"'),
      'Service spire-agent selects the pods of 0 workloads',
    ],
  ])('finds %s', (_, children, problem) => {
    expect(findBrokenReferences(children, externals).join('\n')).toContain(problem);
  });
});

/** The order of the fields of rendered objects does not matter, but the text of files in them does. */
function canonical({ object }: Child): unknown {
  return ordered(object, (names) => names.toSorted());
}

function reordered(inputs: GeneratedInputs): GeneratedInputs {
  return ordered(inputs, (names) => names.toReversed()) as GeneratedInputs;
}

function ordered(value: unknown, order: (names: readonly string[]) => readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => ordered(each, order));
  if (typeof value !== 'object' || value === null) return value;
  const entries = new Map(Object.entries(value));
  return Object.fromEntries(order([...entries.keys()]).map((name) => [name, ordered(entries.get(name), order)]));
}
