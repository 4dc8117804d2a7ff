import type { Definition, Definitions } from './definitions.ts';

/** Descriptions are what there is to say of definitions and of their fields, by name. */
export type Descriptions = Readonly<
  Record<string, readonly [description: string, fields: Readonly<Record<string, string>>] | undefined>
>;

let known: Descriptions | undefined;

/** loadDescriptions reads the prose of built-in kinds. It is larger than everything else of them, and seldom asked for. */
export async function loadDescriptions(): Promise<Descriptions> {
  if (!known) {
    const { text } = await import('./generated/descriptions.ts');
    // The text is generated from this type's own writer.
    known = JSON.parse(text) as Descriptions;
  }
  return known;
}

/** describe adds to definitions what is said of them. */
export function describe(definitions: Definitions, descriptions: Descriptions): void {
  for (const [name, definition] of definitions) {
    const [description, fields] = descriptions[name] ?? [];
    if (description) definition.description = description;
    if (fields) describeFields(definition.properties as Record<string, Definition> | undefined, fields);
  }
}

/** describeFields adds to fields what is said of them. */
export function describeFields(
  properties: Record<string, Definition> | undefined,
  fields: Readonly<Record<string, string>>,
): void {
  for (const [name, description] of Object.entries(fields)) {
    const property = properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!properties || !property) continue;
    // Nothing may stand beside a reference.
    properties[name] = '$ref' in property ? { description, allOf: [property] } : { ...property, description };
  }
}
