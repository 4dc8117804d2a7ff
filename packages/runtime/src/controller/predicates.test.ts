import { describe, expect, it } from 'vitest';
import {
  allOf,
  annotationsChanged,
  anyOf,
  changed,
  generationChanged,
  labelsChanged,
  matching,
  not,
  ownerReferencesChanged,
  type Predicate,
  statusChanged,
} from './predicates.ts';

interface Thing {
  readonly metadata?: {
    readonly generation?: number;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { apiVersion: string; kind: string; name: string; uid: string }[];
  };
  readonly status?: unknown;
}

const meta = (metadata: Thing['metadata']): Thing => ({ metadata: metadata ?? {} });
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: '1' };

describe('predicates', () => {
  it.each<[string, Predicate<Thing>, Thing, Thing, boolean]>([
    ['a new generation', generationChanged, meta({ generation: 1 }), meta({ generation: 2 }), true],
    ['the same generation', generationChanged, meta({ generation: 1 }), meta({ generation: 1 }), false],
    ['a kind without generations', generationChanged, meta({}), meta({}), true],
    ['a chosen annotation', annotationsChanged('a'), meta({ annotations: { a: '1' } }), meta({}), true],
    ['another annotation', annotationsChanged('a'), meta({ annotations: { b: '1' } }), meta({}), false],
    ['any annotation', annotationsChanged(), meta({ annotations: { b: '1' } }), meta({}), true],
    ['equal annotations', annotationsChanged(), meta({ annotations: {} }), meta({}), false],
    ['a chosen label', labelsChanged('a', 'b'), meta({ labels: { b: '1' } }), meta({ labels: { b: '2' } }), true],
    ['another label', labelsChanged('a'), meta({ labels: { b: '1' } }), meta({ labels: { b: '2' } }), false],
    ['any label', labelsChanged(), meta({ labels: { b: '1' } }), meta({ labels: { b: '2' } }), true],
    ['an owner', ownerReferencesChanged, meta({}), meta({ ownerReferences: [owner] }), true],
    [
      'the same owner',
      ownerReferencesChanged,
      meta({ ownerReferences: [owner] }),
      meta({ ownerReferences: [{ ...owner }] }),
      false,
    ],
    ['a status', statusChanged, { status: { ready: 1 } }, { status: { ready: 2 } }, true],
    ['the same status', statusChanged, { status: { ready: 1 } }, { status: { ready: 1 }, metadata: {} }, false],
    [
      'one of two',
      anyOf<Thing>(generationChanged, statusChanged),
      { status: 1, metadata: { generation: 1 } },
      { status: 2, metadata: { generation: 1 } },
      true,
    ],
    [
      'none of two',
      anyOf<Thing>(generationChanged, statusChanged),
      { status: 1, metadata: { generation: 1 } },
      { status: 1, metadata: { generation: 1 } },
      false,
    ],
    [
      'both of two',
      allOf<Thing>(generationChanged, statusChanged),
      { status: 1, metadata: { generation: 1 } },
      { status: 2, metadata: { generation: 1 } },
      false,
    ],
    ['the opposite', not(statusChanged), { status: 1 }, { status: 1 }, true],
    ['the opposite of a change', not(statusChanged), { status: 1 }, { status: 2 }, false],
  ])('evaluate an update: %s', (_, predicate, previous, current, expected) => {
    expect(predicate({ previous, current })).toBe(expected);
  });

  it.each<[string, Predicate<Thing>]>([
    ['generationChanged', generationChanged],
    ['annotationsChanged', annotationsChanged('a')],
    ['labelsChanged', labelsChanged()],
    ['ownerReferencesChanged', ownerReferencesChanged],
    ['statusChanged', statusChanged],
    ['changed', changed<Thing>(() => false)],
    ['not', not<Thing>(changed(() => true))],
  ])('accept creations and deletions: %s', (_, predicate) => {
    expect(predicate({ previous: undefined, current: {} })).toBe(true);
    expect(predicate({ previous: {}, current: undefined })).toBe(true);
  });

  it('match objects by their state before or after an update', () => {
    const labelled = matching((thing: Thing) => thing.metadata?.labels?.app === 'x');
    const yes = meta({ labels: { app: 'x' } });
    expect(labelled({ previous: undefined, current: yes })).toBe(true);
    expect(labelled({ previous: undefined, current: {} })).toBe(false);
    expect(labelled({ previous: yes, current: {} })).toBe(true);
    expect(labelled({ previous: yes, current: undefined })).toBe(true);
    expect(labelled({ previous: {}, current: {} })).toBe(false);
  });
});
