import { readFile } from 'node:fs/promises';
import type { KubernetesObject } from '@bowline/kubernetes';
import { CustomResourceDefinition } from '@bowline/kubernetes/apiextensions-v1';
import { BowlineError } from '@bowline/runtime';
import { type Client, isNotFound } from '@bowline/runtime/client';

/** Manifests with many CRDs have a few megabytes; a larger file holds something else. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * readDefinitions reads the CustomResourceDefinitions of a file: YAML or JSON, several documents, Lists. Other objects
 * are ignored, so that a whole release manifest can be passed. It throws BOWLINE_TYPES_INPUT.
 */
export async function readDefinitions(path: string): Promise<readonly CustomResourceDefinition[]> {
  const { parseAllDocuments } = await import('yaml');
  const documents = [...parseAllDocuments(await textOf(path), { prettyErrors: true })];
  const problem = documents.flatMap(({ errors }) => errors)[0];
  if (problem) throw definitionsError(path, `it is not valid YAML: ${problem.message.split('\n')[0]}`, problem);
  const objects = documents.flatMap((document) => objectsOf(document.toJS({ maxAliasCount: 1000 }) as unknown));
  const found = objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
  const old = found.find(({ apiVersion }) => apiVersion !== 'apiextensions.k8s.io/v1');
  if (old) {
    throw definitionsError(
      path,
      `${old.metadata?.name} has the apiVersion ${old.apiVersion}; use apiextensions.k8s.io/v1, which \`kubectl get crd -o yaml\` prints`,
    );
  }
  if (found.length === 0)
    throw definitionsError(path, 'it contains no CustomResourceDefinition; pass the file with the CRDs');
  // The file is trusted to match its kind: fields that it lacks get no types.
  return found as readonly unknown[] as readonly CustomResourceDefinition[];
}

async function textOf(path: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'it cannot be read';
    throw definitionsError(path, `${code}; pass a readable file`, cause);
  }
  if (text.length > MAX_BYTES) throw definitionsError(path, 'it is larger than 64 MiB; pass the file with the CRDs');
  return text;
}

function objectsOf(value: unknown): readonly KubernetesObject[] {
  if (typeof value !== 'object' || value === null) return [];
  const { items, kind = '' } = value as KubernetesObject & { readonly items?: unknown };
  return kind.endsWith('List') && Array.isArray(items) ? items.flatMap(objectsOf) : [value];
}

/** fetchDefinitions reads CustomResourceDefinitions from a cluster by name. It throws BOWLINE_TYPES_INPUT. */
export async function fetchDefinitions(
  client: Pick<Client, 'get'>,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly CustomResourceDefinition[]> {
  return await Promise.all(
    names.map(async (name) => {
      try {
        return await client.get(CustomResourceDefinition, { name }, { signal });
      } catch (cause) {
        if (!isNotFound(cause)) throw cause;
        throw new BowlineError(
          'BOWLINE_TYPES_INPUT',
          `the cluster has no CustomResourceDefinition ${name}; \`kubectl get crds\` lists the existing ones`,
          { cause },
        );
      }
    }),
  );
}

function definitionsError(path: string, problem: string, cause?: unknown): BowlineError {
  return new BowlineError('BOWLINE_TYPES_INPUT', `cannot generate types from ${path}: ${problem}`, { cause });
}
