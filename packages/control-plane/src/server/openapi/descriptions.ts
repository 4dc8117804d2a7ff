import type { Definition, Definitions } from './definitions.ts';

/** OpenApiDocument is a source of descriptions: an OpenAPI v2 or v3 document of Kubernetes. */
export interface OpenApiDocument {
  readonly definitions?: DescribedSchemas | undefined;
  readonly components?: { readonly schemas?: DescribedSchemas | undefined } | undefined;
}

type DescribedSchemas = Readonly<Record<string, DescribedSchema>>;

interface DescribedSchema {
  readonly description?: string | undefined;
  readonly properties?: Readonly<Record<string, { readonly description?: string | undefined }>> | undefined;
}

/** Descriptions holds the schemas of documents by name, used only for their descriptions. */
export type Descriptions = ReadonlyMap<string, DescribedSchema>;

/** NO_DESCRIPTIONS is used by servers without documents. */
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
    // A reference cannot have siblings.
    properties[name] = '$ref' in property ? { description, allOf: [property] } : { ...property, description };
  }
}
