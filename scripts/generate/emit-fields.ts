import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { header } from './emit-types.ts';
import { type GoField, type GoStructs, readGoStructs } from './go-fields.ts';
import { readInputs } from './inputs.ts';
import { createModel, type Model } from './model.ts';
import { META } from './modules.ts';
import type { SchemaNode } from './open-api.ts';

/**
 * FIELD_NUMBERS is the file with the numbers of fields in protobuf, seen from the repository's root. Unlike the other generated
 * files it is not made anew by every run: its input is Kubernetes' source, which is not in the repository. A test says when it
 * lacks a field that the schemas have.
 */
export const FIELD_NUMBERS = 'packages/control-plane/src/server/protobuf/generated/field-numbers.ts';

/** writeFieldNumbers writes that file from a Go module cache. */
export async function writeFieldNumbers(root: string, cache: string): Promise<void> {
  const inputs = await readInputs(root);
  const text = emitFields(createModel(inputs), await readGoStructs(cache, inputs.version));
  await mkdir(dirname(join(root, FIELD_NUMBERS)), { recursive: true });
  await writeFile(join(root, FIELD_NUMBERS), text);
}

/** Go types whose form in protobuf the schema of a field does not tell, and the marks that do. */
const MARKS: Readonly<Record<string, string | undefined>> = {
  MicroTime: '~',
  JSONSchemaPropsOrBool: '?',
  JSONSchemaPropsOrArray: '+',
  JSONSchemaDependencies: '|',
  CustomResourceSubresourceStatus: '.',
};

/**
 * emitFields writes the numbers that fields have in protobuf, a line per message: `Lease metadata spec` are 1 and 2. What is
 * not one more than the field before says so (`7:name`). `>Rule` is a message whose fields are the outer one's in JSON, `name!`
 * one whose zero value JSON does not leave out; other marks are those of MARKS.
 */
export function emitFields(model: Model, packages: ReadonlyMap<string, GoStructs>): string {
  const modules = model.modules.map((module) => {
    const lines = [...linesOf(model, module, packages.get(module) ?? new Map())].sort(([a], [b]) => (a < b ? -1 : 1));
    return `  '${module}': \`\n${lines.map(([name, fields]) => `${name} ${fields}\n`).join('')}\`,\n`;
  });
  return (
    `${header(model, 'the Go types')}` +
    `export const fieldNumbers: { readonly [module: string]: string | undefined } = {\n${modules.join('')}};\n`
  );
}

function linesOf(model: Model, module: string, structs: GoStructs): ReadonlyMap<string, string> {
  const lines = new Map<string, string>();
  const add = (name: string, node: SchemaNode): ReadonlySet<string> => {
    const fields = structs.get(name);
    if (!fields) throw new Error(`the Go types of ${module} have no ${name}`);
    lines.set(name, lineOf(fields, node));
    const inner = fields.filter((field) => field.name === '').flatMap(({ type }) => [...add(type, node)]);
    return new Set([...fields.map((field) => field.name), ...inner]);
  };
  for (const [name, node] of model.definitions(module)) {
    // Nobody sends a list, and what is not the API's (a version's numbers) is not in protobuf at all.
    const isSent = !name.endsWith('List') && (module !== META || structs.has(name));
    if (!isSent) continue;
    const numbered = add(name, node);
    const missing = Object.keys(node.properties ?? {}).filter((each) => !isType(each, node) && !numbered.has(each));
    if (missing.length > 0) throw new Error(`${module}.${name} has no number in protobuf for ${missing.join(', ')}`);
  }
  return lines;
}

/** What kind an object is stands around it. */
function isType(property: string, node: SchemaNode): boolean {
  return ['apiVersion', 'kind'].includes(property) && node['x-kubernetes-group-version-kind'] !== undefined;
}

function lineOf(fields: readonly GoField[], node: SchemaNode): string {
  let next = 1;
  return fields
    .toSorted((a, b) => a.number - b.number)
    .map((field) => {
      const place = field.number === next ? '' : `${field.number}:`;
      next = field.number + 1;
      return `${place}${field.name === '' ? `>${field.type}` : `${field.name}${markOf(field, node.properties?.[field.name])}`}`;
    })
    .join(' ');
}

function markOf({ type, isOmitted }: GoField, property: SchemaNode | undefined): string {
  const plain = type.replace(/^(?:\*|\[\]|map\[string\])*(?:\w+\.)?/, '');
  const isScalar = ['boolean', 'integer', 'number', 'string'].includes(property?.type ?? '');
  return MARKS[plain] ?? (isScalar && (type.startsWith('*') || !isOmitted) ? '!' : '');
}
