import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { COVERED, META, moduleName } from './modules.ts';

/** GoField is a field of a Go struct, as its tags describe it on both wires. */
export interface GoField {
  /** In protobuf. */
  readonly number: number;
  /** In JSON; empty for a struct whose members stand in the place of the field. */
  readonly name: string;
  /** As written: `*int32`, `metav1.MicroTime`. */
  readonly type: string;
  /** Whether JSON leaves the field out when it is empty. */
  readonly isOmitted: boolean;
}

/** GoStructs are the structs of one Go package that have fields in protobuf, by name. */
export type GoStructs = ReadonlyMap<string, readonly GoField[]>;

/** readGoStructs reads the types of every covered group-version, by module, from a Go module cache. */
export async function readGoStructs(cache: string, version: string): Promise<ReadonlyMap<string, GoStructs>> {
  const packages = [META, ...COVERED.map(moduleName)].map(async (module) => {
    const folder = join(cache, ...packageFolder(module, version));
    const files = (await readdir(folder)).filter((file) => /^types(_\w+)?\.go$/.test(file));
    if (files.length === 0) throw new Error(`${folder} holds no types`);
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
    return [module, new Map(texts.flatMap((text) => [...parseStructs(text)]))] as const;
  });
  return new Map(await Promise.all(packages));
}

/** Kubernetes 1.35.8 is v0.35.8 of its Go modules. */
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

/** parseStructs reads the structs of a Go file as gofmt writes it. Fields without a number in protobuf are left out. */
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
