import { ConfigMap } from '@bowline/kubernetes';
import { isSameJson } from '@bowline/machinery';
import type { Child } from '../../../operators/ztwim/src/objects/child.ts';
import { findBrokenReferences } from '../../../operators/ztwim/src/testing/find-broken-references.test-support.ts';
import {
  externalsOf,
  type GeneratedInputs,
  renderAll,
} from '../../../operators/ztwim/src/testing/generated-inputs.test-support.ts';
import { objectsOf } from '../../../operators/ztwim/src/testing/rendered.test-support.ts';
import { placementsOf } from './placements.ts';

/** filesOf returns the rendered files by their names. */
export function filesOf(children: readonly Child[]): Readonly<Record<string, string>> {
  return Object.fromEntries(objectsOf(children, ConfigMap).flatMap(({ data = {} }) => Object.entries(data)));
}

/** judge returns what is wrong with the objects that are rendered for an installation. */
export function judge(
  inputs: GeneratedInputs,
  render: (inputs: GeneratedInputs) => readonly Child[] = renderAll,
): readonly string[] {
  const children = render(inputs);
  return [
    ...findBrokenReferences(children, externalsOf(inputs)),
    ...misplaced(inputs, filesOf(children)),
    ...(textOf(children) === textOf(render(reordered(inputs) as GeneratedInputs))
      ? []
      : ['the order of the fields of a spec matters']),
  ];
}

function misplaced(inputs: GeneratedInputs, files: Readonly<Record<string, string>>): readonly string[] {
  const parsed = new Map(Object.entries(files).map(([file, text]) => [file, JSON.parse(text) as unknown]));
  return placementsOf(inputs).flatMap(({ file, path, value }) => {
    const found = path.reduce(
      (at: unknown, name) => (at as Partial<Record<string, unknown>> | undefined)?.[name],
      parsed.get(file),
    );
    return isSameJson(found, value)
      ? []
      : [`${file} has ${JSON.stringify(found)} at ${path.join('.')}, not ${JSON.stringify(value)}`];
  });
}

/** The order of the fields of objects does not matter, but every byte of the files in them does. */
function textOf(children: readonly Child[]): string {
  return JSON.stringify(children.map(({ object }) => ordered(object, (names) => names.toSorted())));
}

function reordered(value: unknown): unknown {
  return ordered(value, (names) => names.toReversed());
}

function ordered(value: unknown, order: (names: readonly string[]) => readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => ordered(each, order));
  if (typeof value !== 'object' || value === null) return value;
  const entries = new Map(Object.entries(value));
  return Object.fromEntries(order([...entries.keys()]).map((name) => [name, ordered(entries.get(name), order)]));
}
