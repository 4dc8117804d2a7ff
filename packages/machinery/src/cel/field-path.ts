import { additionalSchema, ownSchema, type StructuralSchema } from '../structural-schema/structural-schema.ts';

const UNESCAPED: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
};

type Parsed = { readonly path: string; readonly schema: StructuralSchema } | { readonly problem: string };

/**
 * resolveFieldPath resolves the path of a rule's `fieldPath` or of a selectable field, `.spec.size` or `.labels['a
 * b']`, in a schema. It returns the path as error messages show it and the schema at that path, or the problem with the
 * path.
 */
export function resolveFieldPath(text: string, root: StructuralSchema): Parsed {
  let schema: StructuralSchema = root;
  let path = '';
  let rest = text;
  if (text.trim() === '') return { problem: 'is empty; omit it or specify a field' };
  while (rest !== '') {
    const step = nextStep(rest);
    if (step === undefined) return { problem: `is invalid at ${JSON.stringify(rest)}; use .field or ['field']` };
    const next = ownSchema(schema.properties, step.name);
    const additional = additionalSchema(schema);
    if (next !== undefined) {
      schema = next;
      path += `.${step.name}`;
    } else if (schema.properties === undefined && additional !== undefined) {
      schema = additional;
      path += `[${step.name}]`;
    } else {
      const known = Object.keys(schema.properties ?? {});
      return { problem: `has no field ${JSON.stringify(step.name)}; known fields are ${known.join(', ') || 'none'}` };
    }
    rest = step.rest;
  }
  return { path: path.replace(/^\./, ''), schema };
}

function nextStep(text: string): { name: string; rest: string } | undefined {
  const dotted = /^\.([^.[\]]+)/.exec(text);
  if (dotted?.[1] !== undefined) return { name: dotted[1], rest: text.slice(dotted[0].length) };
  const quoted = /^\['((?:[^'\\]|\\.)*)'\]/.exec(text);
  if (quoted?.[1] === undefined) return undefined;
  let isKnown = true;
  const name = quoted[1].replace(/\\(.)/g, (_, letter: string) => {
    const character = UNESCAPED[letter];
    if (character === undefined) isKnown = false;
    return character ?? '';
  });
  return isKnown ? { name, rest: text.slice(quoted[0].length) } : undefined;
}

/** fieldPathProblem returns what is wrong with a path, or undefined. */
export function fieldPathProblem(text: string, schema: StructuralSchema): string | undefined {
  const resolved = resolveFieldPath(text, schema);
  return 'problem' in resolved ? resolved.problem : undefined;
}
