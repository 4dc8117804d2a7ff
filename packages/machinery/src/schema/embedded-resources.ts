import { formatValue } from '../json/go-text.ts';
import { isObject, type JsonObject, member } from '../json/json.ts';
import { labelKeyProblems, labelValueProblems } from '../selectors/label-syntax.ts';
import { byText } from '../selectors/selector.ts';
import { additionalSchema, ownSchema, type StructuralSchema } from '../structural-schema/structural-schema.ts';
import { dns1035LabelProblems, dnsLabelProblems } from '../validation/dns-names.ts';
import { type FieldProblem, invalidValue } from '../validation/field-problem.ts';

/** checkEmbedded checks apiVersion, kind and metadata of the whole objects inside a value. */
export function checkEmbedded(value: unknown, schema: StructuralSchema, path: string): FieldProblem[] {
  if (Array.isArray(value)) {
    const items = schema.items;
    return items === undefined ? [] : value.flatMap((item, index) => checkEmbedded(item, items, `${path}[${index}]`));
  }
  if (!isObject(value)) return [];
  const additional = additionalSchema(schema);
  return [
    ...(schema['x-kubernetes-embedded-resource'] === true ? checkResource(value, path) : []),
    ...Object.keys(value).flatMap((key) => {
      const own = ownSchema(schema.properties, key);
      if (own !== undefined) return checkEmbedded(value[key], own, path === '' ? key : `${path}.${key}`);
      return additional === undefined ? [] : checkEmbedded(value[key], additional, `${path}[${key}]`);
    }),
  ];
}

function checkResource(object: JsonObject, path: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const field of ['apiVersion', 'kind'] as const) {
    const text = member(object, field);
    const at = `${path}.${field}`;
    if (text === undefined) problems.push({ field: at, reason: 'FieldValueRequired', message: 'Required value' });
    else if (typeof text !== 'string') problems.push(wrong(at, text, 'must be a string'));
    else if (text === '') problems.push(wrong(at, text, 'must not be empty'));
    else if (field === 'apiVersion' && text.split('/').length > 2)
      problems.push(wrong(at, text, `unexpected GroupVersion string: ${text}`));
    else if (field === 'kind') problems.push(...kindProblems(at, text));
  }
  const metadata = member(object, 'metadata');
  if (isObject(metadata)) problems.push(...checkMetadata(metadata, `${path}.metadata`));
  else if (metadata !== undefined && metadata !== null)
    problems.push(wrong(`${path}.metadata`, metadata, 'must be an object'));
  return problems;
}

function kindProblems(at: string, kind: string): FieldProblem[] {
  const problems = dns1035LabelProblems(kind.toLowerCase());
  if (problems.length === 0) return [];
  return [wrong(at, kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
}

function checkMetadata(metadata: JsonObject, path: string): FieldProblem[] {
  const { name, namespace, labels, annotations } = metadata;
  // The API server rejects the whole object if it cannot decode it; reporting the field is more useful.
  const problems: FieldProblem[] = checkMetadataTypes(metadata, path);
  if (typeof name === 'string')
    for (const problem of nameProblems(name)) problems.push(wrong(`${path}.name`, name, problem));
  if (typeof namespace === 'string' && namespace !== '') {
    for (const problem of dnsLabelProblems(namespace)) problems.push(wrong(`${path}.namespace`, namespace, problem));
  }
  for (const [key, value] of sorted(labels)) {
    for (const problem of labelKeyProblems(key)) problems.push(invalidValue(`${path}.labels`, key, problem));
    if (typeof value === 'string')
      for (const problem of labelValueProblems(value)) problems.push(invalidValue(`${path}.labels`, value, problem));
  }
  for (const [key] of sorted(annotations)) {
    for (const problem of labelKeyProblems(key.toLowerCase()))
      problems.push(invalidValue(`${path}.annotations`, key, problem));
  }
  return problems;
}

function checkMetadataTypes(metadata: JsonObject, path: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const field of ['name', 'generateName', 'namespace']) {
    const value = member(metadata, field) ?? '';
    if (typeof value !== 'string') problems.push(wrong(`${path}.${field}`, value, 'must be a string'));
  }
  for (const field of ['labels', 'annotations']) {
    const value = member(metadata, field) ?? {};
    if (!isObject(value) || Object.values(value).some((item) => typeof item !== 'string'))
      problems.push(wrong(`${path}.${field}`, value, 'must be an object with string values'));
  }
  return problems;
}

function nameProblems(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
}

function sorted(map: unknown): [string, unknown][] {
  return isObject(map) ? Object.entries(map).sort(([a], [b]) => byText(a, b)) : [];
}

function wrong(field: string, value: unknown, detail: string): FieldProblem {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${formatValue(value)}: ${detail}` };
}
