import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { compare, type ServerDocument } from './normalise.ts';

/**
 * DESCRIPTIONS is the file with what the server says of kinds and their fields, seen from the repository's root: what
 * `kubectl explain` shows. Unlike the other generated files it is written by `--fetch` alone: openapi/ holds no prose.
 */
export const DESCRIPTIONS = 'packages/control-plane/src/server/openapi/generated/descriptions.ts';

/** writeDescriptions writes that file from the documents of a server of a version. */
export async function writeDescriptions(
  root: string,
  version: string,
  documents: Iterable<ServerDocument>,
): Promise<void> {
  await mkdir(dirname(join(root, DESCRIPTIONS)), { recursive: true });
  await writeFile(join(root, DESCRIPTIONS), emitDescriptions(version, documents));
}

/** emitDescriptions writes a line per definition: what it is, and what its fields are. */
export function emitDescriptions(version: string, documents: Iterable<ServerDocument>): string {
  const lines = new Map<string, string>();
  for (const { components } of documents) {
    for (const [name, node] of Object.entries(components?.schemas ?? {})) {
      const { description = '', properties = {} } = node as Described;
      const fields = Object.entries(properties).flatMap(([field, property]) =>
        property.description ? [[field, property.description] as const] : [],
      );
      const sorted = Object.fromEntries(fields.sort(([a], [b]) => compare(a, b)));
      lines.set(name, `${JSON.stringify(name)}:${JSON.stringify([description, sorted])}`);
    }
  }
  const text = [...lines]
    .sort(([a], [b]) => compare(a, b))
    .map(([, line]) => line.replace(/[\\`]|\$\{/g, '\\$&'))
    .join(',\n');
  return (
    `// Generated from the documents of a server (Kubernetes ${version}) by \`npm run generate -- --fetch\`: do not edit.\n` +
    `export const text = \`{\n${text}\n}\`;\n`
  );
}

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
}
