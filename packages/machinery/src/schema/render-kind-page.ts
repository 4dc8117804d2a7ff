import {
  additionalSchema,
  type StructuralSchema,
  type ValidationRule,
} from '../structural-schema/structural-schema.ts';
import {
  type Column,
  pluralOf,
  type ResourceDefinition,
  resourceSchema,
  type VersionDefinition,
  versionsOf,
} from './resource-definition.ts';

/**
 * renderKindPage returns the reference page of a kind in Markdown: names, columns, and every field with its type,
 * default, bounds and rules, all from the schema.
 */
export function renderKindPage(definition: ResourceDefinition): string {
  const { group, kind, scope, shortNames = [], categories = [] } = definition;
  const versions = versionsOf(definition);
  const facts = [
    ['API group', code(group)],
    ['Versions', versions.map((version) => `${code(version.version)}${versionNote(version)}`).join(', ')],
    ['Scope', scope === 'Namespaced' ? 'namespaced' : 'cluster'],
    ['Plural', code(pluralOf(definition))],
    ['Short names', shortNames.map(code).join(', ') || 'none'],
    ['Categories', [...new Set(categories)].map(code).join(', ') || 'none'],
  ];
  const sections = versions.map((version) => renderVersion(version, versions.length > 1));
  return `${[`# ${kind}`, ...table(['', ''], facts), ...sections.flat()]
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()}\n`;
}

function versionNote(version: VersionDefinition & { readonly storage: boolean }): string {
  const notes = [
    ...(version.storage ? ['stored'] : []),
    ...(version.served === false ? ['not served'] : []),
    ...(version.deprecated === undefined || version.deprecated === false ? [] : ['deprecated']),
  ];
  return notes.length === 0 ? '' : ` (${notes.join(', ')})`;
}

function renderVersion(version: VersionDefinition, isOneOfSeveral: boolean): string[] {
  const root = resourceSchema(version);
  const level = isOneOfSeveral ? '###' : '##';
  const lines = isOneOfSeveral ? [`## Version ${version.version}`, ''] : [];
  if (typeof version.deprecated === 'string') lines.push(`Deprecated: ${version.deprecated}`, '');
  if (version.description !== undefined) lines.push(version.description, '');
  const columns = version.columns ?? [];
  if (columns.length > 0)
    lines.push(`${level} Columns`, '', ...table(['Column', 'Path', 'Meaning'], columns.map(columnRow)));
  const rules = root['x-kubernetes-validations'] ?? [];
  if (rules.length > 0) lines.push(`${level} Rules`, '', ...rules.map(ruleLine), '');
  for (const part of ['spec', 'status'] as const) {
    const schema = version[part]?.json;
    if (schema === undefined) continue;
    lines.push(`${level} ${part}`, '');
    if (schema.description !== undefined) lines.push(schema.description, '');
    const rows = fieldRows(schema, part);
    lines.push(...(rows.length === 0 ? ['No fields.', ''] : table(['Field', 'Type', 'Default', 'Description'], rows)));
    lines.push(...(schema['x-kubernetes-validations'] ?? []).map(ruleLine), '');
  }
  if ((version.selectableFields ?? []).length > 0)
    lines.push(
      `${level} Selectable fields`,
      '',
      ...(version.selectableFields ?? []).map((path) => `- ${code(path)}`),
      '',
    );
  return lines;
}

function columnRow({ name, path, description, priority }: Column): string[] {
  const wide = priority === undefined || priority === 0 ? '' : ' (with `-o wide`)';
  return [name, code(path), `${description ?? ''}${wide}`.trim()];
}

function fieldRows(schema: StructuralSchema, path: string): string[][] {
  const rows = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = `${path}.${name}`;
    const isRequired = schema.required?.includes(name) === true;
    return [fieldRow(field, at, isRequired), ...fieldRows(field, at)];
  });
  const additional = additionalSchema(schema);
  if (additional !== undefined) rows.push(...fieldRows(additional, `${path}.*`));
  if (schema.items !== undefined) rows.push(...fieldRows(schema.items, `${path}[]`));
  return rows;
}

function fieldRow(field: StructuralSchema, path: string, isRequired: boolean): string[] {
  const notes = [...boundsOf(field), ...boundsOfItems(field)];
  const inner = field.items ?? additionalSchema(field);
  const rules = [
    ...(field['x-kubernetes-validations'] ?? []).map(ruleText),
    ...(inner?.['x-kubernetes-validations'] ?? []).map((rule) => `For each item: ${ruleText(rule)}`),
  ];
  const description = [
    ...(field.description === undefined ? [] : [field.description]),
    ...(notes.length === 0 ? [] : [`Must be: ${notes.join(', ')}.`]),
    ...rules,
    ...(field.example === undefined ? [] : [`Example: ${code(JSON.stringify(field.example))}.`]),
    ...(field.externalDocs === undefined ? [] : [`See ${field.externalDocs.url}.`]),
  ];
  const presence =
    field.default === undefined ? (isRequired ? '**required**' : '') : code(JSON.stringify(field.default));
  return [code(path), typeText(field), presence, description.join(' ')];
}

function typeText(schema: StructuralSchema): string {
  const nullable = schema.nullable === true ? ' or null' : '';
  if (schema['x-kubernetes-int-or-string'] === true) return `integer or string${nullable}`;
  if (schema['x-kubernetes-embedded-resource'] === true) return `Kubernetes object${nullable}`;
  const additional = additionalSchema(schema);
  if (additional !== undefined) return `map of ${typeText(additional)}${nullable}`;
  if (schema.items !== undefined) return `${listText(schema)} of ${typeText(schema.items)}${nullable}`;
  const isTextFormat = schema.type === 'string' && schema.format !== undefined;
  return `${isTextFormat ? schema.format : (schema.type ?? 'any')}${nullable}`;
}

function listText(schema: StructuralSchema): string {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (schema['x-kubernetes-list-type'] === 'set') return 'set';
  return keys.length === 0 ? 'list' : `list (one per ${keys.join(' and ')})`;
}

function boundsOf(schema: StructuralSchema): string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, minProperties, maxProperties } = schema;
  return [
    ...(schema.enum === undefined
      ? []
      : [`one of ${schema.enum.map((value) => code(JSON.stringify(value))).join(' ')}`]),
    ...(minimum === undefined ? [] : [`${schema.exclusiveMinimum === true ? '>' : '≥'} ${minimum}`]),
    ...(maximum === undefined ? [] : [`${schema.exclusiveMaximum === true ? '<' : '≤'} ${maximum}`]),
    ...(schema.multipleOf === undefined ? [] : [`a multiple of ${schema.multipleOf}`]),
    ...between(minLength, maxLength, 'characters'),
    ...between(minItems, maxItems, 'items'),
    ...between(minProperties, maxProperties, 'entries'),
    ...(schema.pattern === undefined ? [] : [`matching ${code(schema.pattern)}`]),
  ];
}

function boundsOfItems(schema: StructuralSchema): string[] {
  const inner = schema.items ?? additionalSchema(schema);
  return inner === undefined ? [] : boundsOf(inner).map((bound) => `each ${bound}`);
}

function between(min: number | undefined, max: number | undefined, what: string): string[] {
  if (min !== undefined && max !== undefined) return [`${min} to ${max} ${what}`];
  if (min !== undefined) return [`at least ${min} ${what}`];
  return max === undefined ? [] : [`at most ${max} ${what}`];
}

function ruleText(rule: ValidationRule): string {
  const message = rule.message ?? rule.messageExpression;
  return `Rule: ${code(rule.rule)}${message === undefined ? '' : ` (${message})`}.`;
}

function ruleLine(rule: ValidationRule): string {
  return `- ${ruleText(rule)}`;
}

function code(text: string): string {
  const fence = text.includes('`') ? '``' : '`';
  return text === '' ? '' : `${fence}${text}${fence}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return ['', line(head), line(head.map(() => '---')), ...rows.map(line), ''];
}

/** A table cell must not contain bars and line breaks. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s*\n\s*/g, '<br>');
}
