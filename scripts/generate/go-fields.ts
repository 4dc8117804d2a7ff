import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { COVERED, META, moduleName } from './modules.ts';

/** GoField is a field of a Go struct, as its tags describe it for protobuf and JSON. */
export interface GoField {
  /** The number in protobuf. */
  readonly number: number;
  /** The name in JSON; empty for an inlined struct. */
  readonly name: string;
  /** The type as written: `*int32`, `metav1.MicroTime`. */
  readonly type: string;
  /** Whether JSON omits the field if it is empty. */
  readonly isOmitted: boolean;
}

/** GoStructs holds the structs of one Go package that have protobuf fields, by name. */
export type GoStructs = ReadonlyMap<string, readonly GoField[]>;

/** readGoStructs reads the types of every covered group-version, by module, from a Go module cache. */
export async function readGoStructs(cache: string, version: string): Promise<ReadonlyMap<string, GoStructs>> {
  const packages = [META, ...COVERED.map(moduleName)].map(async (module) => {
    const folder = join(cache, ...packageFolder(module, version));
    const files = (await readdir(folder)).filter((file) => /^types(_\w+)?\.go$/.test(file));
    if (files.length === 0) throw new Error(`${folder} contains no types`);
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
    return [module, new Map(texts.flatMap((text) => [...parseStructs(text)]))] as const;
  });
  return new Map(await Promise.all(packages));
}

/** Kubernetes 1.35.8 corresponds to v0.35.8 of its Go modules. */
function packageFolder(module: string, version: string): string[] {
  const [group = '', apiVersion = ''] = module.split('-');
  const at = version.replace(/^v1\./, 'v0.');
  if (module === META) return ['k8s.io', `apimachinery@${at}`, 'pkg', 'apis', 'meta', apiVersion];
  if (group === 'apiextensions' || group === 'apiregistration') {
    const owner = group === 'apiextensions' ? 'apiextensions-apiserver' : 'kube-aggregator';
    return ['k8s.io', `${owner}@${at}`, 'pkg', 'apis', group, apiVersion];
  }
  return ['k8s.io', `api@${at}`, group, apiVersion];
}

const STRUCT = /^type (\w+) struct \{\n(.*?)^\}/gms;
const TAGGED = /^\t(?:(\w+)\s+)?(\S+)\s+`(.*)`/;

/** parseStructs parses the structs of a Go file formatted by gofmt. Fields without a protobuf number are left out. */
export function parseStructs(source: string): GoStructs {
  const structs = new Map<string, readonly GoField[]>();
  for (const [, name = '', body = ''] of source.matchAll(STRUCT)) {
    const fields = body.split('\n').flatMap((line) => parseField(line) ?? []);
    if (fields.length > 0) structs.set(name, fields);
  }
  return structs;
}

function parseField(line: string): GoField | undefined {
  const [, , type, tags] = TAGGED.exec(line) ?? [];
  const [, number] = /protobuf:"\w+,(\d+)/.exec(tags ?? '') ?? [];
  if (type === undefined || tags === undefined || number === undefined) return undefined;
  const [name = '', ...options] = (/json:"([^"]*)"/.exec(tags)?.[1] ?? '').split(',');
  return { number: Number(number), name, type, isOmitted: options.includes('omitempty') };
}
