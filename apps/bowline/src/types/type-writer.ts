import type { StructuralSchema } from '@bowline/machinery/schema';
import { docComment } from './doc-comment.ts';

const ANY_FIELDS = 'readonly [field: string]: unknown';

/** Fields is the part of a schema that describes the members of an object. */
type Fields = Readonly<Record<string, StructuralSchema>>;

/** TypeWriter writes the types of schemas as interfaces, each once, in the order in which they are first used. */
export class TypeWriter {
  readonly #names: Set<string>;
  readonly #interfaces: string[] = [];

  /** `taken` holds names that interfaces may not have. */
  constructor(taken: readonly string[]) {
    this.#names = new Set(taken);
  }

  /** written returns the interfaces written so far. */
  written(): readonly string[] {
    return this.#interfaces;
  }

  /** typeOf returns the type of a value. `name` is the name of its interface, if it needs one. */
  typeOf(schema: StructuralSchema, name: string): string {
    const type = this.#plainType(schema, name);
    return schema.nullable ? or(type, 'null') : type;
  }

  #plainType(schema: StructuralSchema, name: string): string {
    if (schema['x-kubernetes-int-or-string']) return 'number | string';
    if (schema.enum) return schema.enum.map(literal).join(' | ');
    switch (schema.type) {
      case 'string':
      case 'boolean':
        return schema.type;
      case 'integer':
      case 'number':
        return 'number';
      case 'array': {
        const item = this.typeOf(schema.items ?? {}, `${name}Item`);
        return / [|&] |^readonly /.test(item) ? `readonly (${item})[]` : `readonly ${item}[]`;
      }
      case 'object':
        return this.#objectType(schema, name);
      default:
        return 'unknown';
    }
  }

  #objectType(schema: StructuralSchema, name: string): string {
    if (schema['x-kubernetes-embedded-resource']) return `KubernetesObject & { ${ANY_FIELDS} }`;
    if (schema.properties) return this.#declare(schema, schema.properties, name);
    if (schema['x-kubernetes-preserve-unknown-fields'] || schema.additionalProperties === true) {
      return `{ ${ANY_FIELDS} }`;
    }
    const values = schema.additionalProperties;
    if (typeof values === 'object') return `{ readonly [key: string]: ${this.typeOf(values, `${name}Value`)} }`;
    // The API server prunes every field.
    return 'Readonly<Record<string, never>>';
  }

  /** Nested types are written while the type that uses them is still incomplete, so its place is reserved. */
  #declare(schema: StructuralSchema, fields: Fields, wanted: string): string {
    const name = this.#freeName(wanted);
    const place = this.#interfaces.push('') - 1;
    this.#interfaces[place] =
      `${docComment(schema, '')}export interface ${name} {\n${this.members(schema, fields, name)}}\n`;
    return name;
  }

  /** members returns the members of an interface, sorted by name. */
  members({ required = [], ...schema }: StructuralSchema, fields: Fields, name: string): string {
    const lines = Object.keys(fields)
      .sort()
      .map((field) => {
        const each = fields[field] ?? {};
        const type = this.typeOf(each, `${name}${capitalised(field)}`);
        const isPresent = required.includes(field) && each.default === undefined;
        const declared = isPresent
          ? `${memberName(field)}: ${type}`
          : `${memberName(field)}?: ${or(type, 'undefined')}`;
        return `${docComment(each, '  ')}  readonly ${declared};\n`;
      });
    const isOpen = schema['x-kubernetes-preserve-unknown-fields'];
    return [...lines, ...(isOpen ? [`  ${ANY_FIELDS};\n`] : [])].join('');
  }

  #freeName(wanted: string): string {
    let name = wanted;
    for (let count = 2; this.#names.has(name); count++) name = `${wanted}${count}`;
    this.#names.add(name);
    return name;
  }
}

/** or returns the union of two types. `unknown` includes every other. */
function or(type: string, other: string): string {
  if (type === 'unknown') return type;
  return `${type.includes(' & ') ? `(${type})` : type} | ${other}`;
}

/** literal returns a JSON value as a TypeScript literal, with strings in single quotes where that needs no escapes. */
export function literal(value: unknown): string {
  const text = JSON.stringify(value);
  return typeof value !== 'string' || value.includes("'") ? text : `'${text.slice(1, -1).replaceAll('\\"', '"')}'`;
}

function memberName(field: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(field) ? field : literal(field);
}

/** capitalised converts a field's name to a part of a type's name: `dns-names` becomes `DnsNames`. */
export function capitalised(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}
