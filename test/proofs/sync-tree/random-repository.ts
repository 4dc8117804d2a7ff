import { between, integerBelow, pick, type Random } from '@bowline/machinery';
import { type JsonDocument, randomDocument, writeDocument } from './json-document.ts';

/** Content is the content of a file of the repository. */
export type Content =
  | { readonly kind: 'json'; readonly document: JsonDocument }
  /** A document of a resource: members as a gateway reads them. */
  | {
      readonly kind: 'resource';
      readonly attributes: Readonly<Record<string, unknown>> | undefined;
      readonly scope: string;
    }
  | { readonly kind: 'bytes'; readonly bytes: Buffer };

/** RepositoryFile is a file of the repository. */
export interface RepositoryFile {
  readonly mode: string;
  readonly content: Content;
}

/** Repository is a commit: its files by path. */
export type Repository = Map<string, RepositoryFile>;

/** writeContent returns the bytes of a file. */
export function writeContent(content: Content): Buffer {
  if (content.kind === 'bytes') return content.bytes;
  if (content.kind === 'json') return Buffer.from(writeDocument(content.document));
  const { attributes, scope } = content;
  return Buffer.from(`${JSON.stringify({ scope, ...(attributes === undefined ? {} : { attributes }) }, null, 2)}\n`);
}

const FOLDERS = [
  'services/site/projects/overview',
  'services/site/projects/overview/views/main',
  'services/site/projects/line-1',
  'services/site/projects/line-1/views/main',
  'services/site/projects/Line-1',
  'services/site/config/resources/core/ignition/system-properties',
  'services/site/config/resources/core/ignition/tag-definition/plant',
  'services/site/config/resources/core/ignition/tag-type-definition/default',
  'services/site/config/resources/dev/ignition/system-properties',
  'services/site/config/resources/dev',
  'shared/external',
  'shared/external/ignition',
  'shared/scripts',
  'shared/scripts/lib',
  'shared/udts',
  'extra',
  'extra/deep/er',
  'services/area/projects/mixer',
];
const NAMES = [
  'resource.json',
  'project.json',
  'config.json',
  'view.json',
  'data.txt',
  'code.py',
  'image.bin',
  '.gitkeep',
  'Data.txt',
  'ä é.txt',
  'a\u0301.txt',
  '\u00e1.txt',
  'nested',
];
const HOSTILE_SEGMENTS = [
  '..',
  '.',
  '',
  'a:b',
  'a*b',
  'a\\b',
  '"q"',
  'tab\there',
  'nul\0',
  `${'x'.repeat(256)}`,
  '\ufffd',
  'a|b',
  '`',
  '<a>',
  '\u0085',
  '?',
];
/** Never placed, and no reason to refuse anything. */
const RESERVED_SEGMENTS = [
  '.git',
  '.resources',
  '.Resources',
  '.RESOURCES',
  '.ignition-sync',
  '.Ignition-Sync',
  '.sync-staging',
  '.ignition-\u017fync',
];

/** randomRepository returns a commit. With `hostility`, names, modes and contents occur that must be refused. */
export function randomRepository(random: Random, hostility: number): Repository {
  const repository: Repository = new Map();
  const count = Math.floor(between(random, 2, 40));
  for (let index = 0; index < count; index++) addFile(random, repository, hostility);
  return repository;
}

/** mutateRepository changes some files of a commit. */
export function mutateRepository(random: Random, repository: Repository, hostility: number): Repository {
  const next: Repository = new Map(repository);
  for (const [path, file] of repository) {
    const chance = random.next();
    if (chance < 0.15) next.delete(path);
    else if (chance < 0.3) next.set(path, { ...file, content: randomContent(random, path, hostility) });
    else if (chance < 0.35) next.set(path, { ...file, mode: file.mode === '100755' ? '100644' : '100755' });
    // A file becomes a folder, or a folder a file.
    else if (chance < 0.38) {
      next.delete(path);
      next.set(`${path}/nested`, file);
    } else if (chance < 0.41) {
      const parent = path.slice(0, path.lastIndexOf('/'));
      for (const other of repository.keys()) if (other.startsWith(`${parent}/`)) next.delete(other);
      next.set(parent, file);
    }
  }
  for (let index = integerBelow(random, 5); index > 0; index--) addFile(random, next, hostility);
  return next;
}

function addFile(random: Random, repository: Repository, hostility: number): void {
  const chance = random.next();
  const segments = [pick(random, FOLDERS)];
  if (chance < hostility) segments.push(pick(random, HOSTILE_SEGMENTS));
  else if (chance > 0.96) segments.push(pick(random, RESERVED_SEGMENTS));
  else if (chance > 0.9) segments.push('folder');
  segments.push(pick(random, NAMES));
  const path = segments.join('/');
  const mode =
    random.next() < hostility / 4 ? pick(random, ['120000', '160000']) : random.next() < 0.15 ? '100755' : '100644';
  repository.set(path, { mode, content: randomContent(random, path, hostility) });
}

const TEXTS = [
  'plain\n',
  'hello {{.GatewayName}} at {{ .Vars.site }}\r\n',
  '{{ .Commit }}{{.Labels.app/name}}',
  '{{ x }} {{.}} { {',
  'no final newline',
  '',
];

function randomContent(random: Random, path: string, hostility: number): Content {
  if (random.next() < hostility / 4)
    return {
      kind: 'bytes',
      bytes: Buffer.from(pick(random, ['{"a": ', '{{ .Nope }}', POINTER, '{"a":1}}', '\xff\xfe'])),
    };
  if (path.endsWith('/resource.json')) return randomResource(random);
  if (path.endsWith('.json')) return { kind: 'json', document: randomDocument(random) };
  if (path.endsWith('.bin')) {
    const size = random.next() < 0.1 ? integerBelow(random, 300_000) : integerBelow(random, 2_000);
    const bytes = Buffer.alloc(size, integerBelow(random, 256));
    for (let at = 0; at < size; at += 97) bytes[at] = integerBelow(random, 256);
    return { kind: 'bytes', bytes };
  }
  return {
    kind: 'bytes',
    bytes: Buffer.from(`${pick(random, TEXTS)}${random.next() < 0.5 ? integerBelow(random, 1000) : ''}`),
  };
}

function randomResource(random: Random): Content {
  const scope = pick(random, ['A', 'G', 'D']);
  const isBare = random.next() < 0.2;
  const lastModification = { actor: pick(random, ['git', 'designer']), timestamp: '2024-01-01T00:00:00Z' };
  const attributes = isBare
    ? undefined
    : { lastModification, ...(random.next() < 0.5 ? { restricted: random.next() < 0.5 } : {}) };
  return { kind: 'resource', attributes, scope };
}

const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12\n`;

/** isPointer returns whether bytes are the pointer that repositories here contain. */
export function isPointer(bytes: Buffer): boolean {
  return bytes.toString('latin1') === POINTER;
}
