import type { Definition, Definitions } from './definitions.ts';

/** OpenApiDocument is what descriptions are read from: a document of Kubernetes as OpenAPI v2 or v3. */
export interface OpenApiDocument {
  readonly definitions?: DescribedSchemas | undefined;
  readonly components?: { readonly schemas?: DescribedSchemas | undefined } | undefined;
}

type DescribedSchemas = Readonly<Record<string, DescribedSchema>>;

interface DescribedSchema {
  readonly description?: string | undefined;
  readonly properties?: Readonly<Record<string, { readonly description?: string | undefined }>> | undefined;
}

/** Descriptions are the schemas of documents by name, read for their descriptions alone. */
export type Descriptions = ReadonlyMap<string, DescribedSchema>;

/** NO_DESCRIPTIONS is for servers that were given no documents. */
export const NO_DESCRIPTIONS: Descriptions = new Map();

/** descriptionsOf collects the schemas of documents. */
export function descriptionsOf(documents: readonly OpenApiDocument[]): Descriptions {
  return new Map(
    documents.flatMap(({ definitions, components }) => Object.entries({ ...definitions, ...components?.schemas })),
  );
}

/** describe adds descriptions to definitions and their fields. */
export function describe(definitions: Definitions, descriptions: Descriptions): void {
  for (const [name, definition] of definitions) {
    const described = descriptions.get(name);
    if (described?.description) definition.description = described.description;
    describeFields(definition.properties as Record<string, Definition> | undefined, described);
  }
}

/** describeFields adds the descriptions of a schema's fields. */
export function describeFields(
  properties: Record<string, Definition> | undefined,
  described: DescribedSchema | undefined,
): void {
  for (const [name, { description }] of Object.entries(described?.properties ?? {})) {
    const property = properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!properties || !property || !description) continue;
    // Nothing may stand beside a reference.
    properties[name] = '$ref' in property ? { description, allOf: [property] } : { ...property, description };
  }
}
