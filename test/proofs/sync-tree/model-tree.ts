import { type JsonDocument, mapRaw, type Raw, setValue, type Value, writeDocument } from './json-document.ts';
import { type Content, isPointer, type Repository, writeContent } from './random-repository.ts';
import { type Settings, VARIABLES } from './random-settings.ts';

/** ModelFile is a file that a gateway should have. */
export interface ModelFile {
  readonly bytes: Buffer;
  readonly isExecutable: boolean;
  /** The engine chooses where a created member is written: only the value is compared. */
  readonly isJson: boolean;
  readonly hasTransforms: boolean;
  /** Why the content must be refused if it is placed. */
  readonly refusal: string | undefined;
}

/** ModelTree is the desired state by the naive model. */
export interface ModelTree {
  readonly files: ReadonlyMap<string, ModelFile>;
  /** All paths, also those whose content is refused. */
  readonly paths: ReadonlySet<string>;
  readonly roots: readonly string[];
  readonly isExcluded: (path: string) => boolean;
  /** The reasons for which the tree must be refused. */
  readonly refusals: ReadonlySet<string>;
}

interface Step {
  readonly source: string;
  readonly destination: string;
  readonly type?: string | undefined;
  readonly required?: boolean | undefined;
  readonly template?: boolean | undefined;
  readonly patches?: readonly { readonly file: string; readonly set: Readonly<Record<string, string>> }[] | undefined;
  readonly everyProject?: boolean | undefined;
  readonly withheld?: boolean | undefined;
  readonly fallback?: boolean | undefined;
}

interface Chosen {
  readonly from: string | undefined;
  readonly step: Step;
  readonly relative: string;
}

class Refused extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/** modelTree computes the desired state step by step, as the documentation describes it. */
export function modelTree(repository: Repository, settings: Settings): ModelTree {
  const refusals = new Set<string>();
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refusals.add(error.reason);
    }
  };
  const chosen = new Map<string, Chosen>();
  const roots: string[] = [];
  const { layout } = settings;
  if (layout !== undefined && !hasFolder(repository, trim(layout.servicePath))) {
    attempt(() => refuseLinks(repository, trim(layout.servicePath)));
    refusals.add('ServicePathNotFound');
  }
  for (const step of stepsOf(settings)) attempt(() => choose(repository, step, chosen, roots));
  const excluded = patternsOf(settings.patterns);
  const isExcluded = (path: string): boolean => isReserved(path) || excluded(path);
  for (const path of [...chosen.keys()]) if (isExcluded(path)) chosen.delete(path);
  for (const [path, { from }] of chosen) {
    const mode = from === undefined ? '100644' : repository.get(from)?.mode;
    if (mode === '120000') refusals.add('SymlinkInRepository');
    if (mode === '160000') refusals.add('SubmoduleInRepository');
    if (isUnsafe(path)) refusals.add('UnsafePath');
    const parents = path.split('/').map((_, index, all) => all.slice(0, index).join('/'));
    if (parents.some((parent) => chosen.has(parent))) refusals.add('PathCollision');
  }
  if (chosen.size > settings.maxFiles) refusals.add('TooManyFiles');
  const files = new Map<string, ModelFile>();
  const foundFields = new Set<number>();
  for (const [path, each] of chosen)
    attempt(() => files.set(path, fileOf(repository, path, each, settings, foundFields)));
  for (const { valueTemplate } of settings.fields) attempt(() => void render(valueTemplate));
  if (settings.fields.some((_, index) => !foundFields.has(index))) refusals.add('TemplateFailed');
  return { files, paths: new Set(chosen.keys()), roots, isExcluded, refusals };
}

function stepsOf({ layout, mappings }: Settings): Step[] {
  if (layout === undefined)
    return mappings.map(({ source, destination, type, required, template, patches }) => ({
      source,
      destination,
      type,
      required,
      template,
      patches,
    }));
  const at = trim(layout.servicePath);
  const core = 'config/resources/core';
  const steps: Step[] = [
    { source: `${at}/projects`, destination: 'projects', type: 'dir' },
    { source: `${at}/config/resources/core`, destination: core, type: 'dir' },
  ];
  const { externalResources, scripts, udts, deploymentMode, additionalFiles = [], tagInheritanceStrategy } = layout;
  if (externalResources)
    steps.push({
      source: externalResources.source,
      destination: 'config/resources/external',
      type: 'dir',
      fallback: externalResources.createFallback === true,
    });
  if (scripts)
    steps.push({
      source: scripts.source,
      destination: scripts.destPath ?? 'ignition/script-python',
      type: 'dir',
      everyProject: true,
    });
  if (udts)
    steps.push({
      source: udts.source,
      destination: `${core}/ignition/tag-type-definition/default`,
      type: 'dir',
      withheld: tagInheritanceStrategy === 'leaf-only',
    });
  if (deploymentMode !== undefined)
    steps.push({ source: `${at}/config/resources/${deploymentMode}`, destination: core, type: 'dir' });
  for (const { source, dest, type = 'file' } of additionalFiles) steps.push({ source, destination: dest, type });
  return steps;
}

function choose(repository: Repository, step: Step, chosen: Map<string, Chosen>, roots: string[]): void {
  const source = trim(render(step.source));
  const destination = trim(render(step.destination));
  const isFile = repository.has(source) && step.type !== 'dir';
  const isFolder = !isFile && step.type !== 'file' && hasFolder(repository, source);
  if (!isFile && !isFolder) {
    refuseLinks(repository, source);
    if (step.required) throw new Refused('SourceNotFound');
    if (step.fallback)
      chosen.set('config/resources/external/config-mode.json', { from: undefined, step, relative: '' });
    return;
  }
  if (!step.everyProject && isUnsafe(destination)) throw new Refused('UnsafePath');
  const projects = new Set(
    [...chosen.keys()].flatMap((path) => (/^projects\/.*?\//.test(path) ? [path.split('/')[1]] : [])),
  );
  const targets = step.everyProject ? [...projects].map((name) => `projects/${name}/${destination}`) : [destination];
  for (const target of targets) {
    if (isFolder && !step.withheld && !isUnsafe(target)) roots.push(target);
    for (const from of repository.keys()) {
      const isBelow = source === '.' || from.startsWith(`${source}/`);
      if (isFile ? from !== source : !isBelow) continue;
      const relative = isFile
        ? (target.split('/').at(-1) ?? '')
        : source === '.'
          ? from
          : from.slice(source.length + 1);
      const path = isFile ? target : `${target}/${relative}`;
      if (step.withheld) chosen.delete(path);
      else chosen.set(path, { from, step, relative });
    }
  }
}

function hasFolder(repository: Repository, path: string): boolean {
  return [...repository.keys()].some((each) => path === '.' || each.startsWith(`${path}/`));
}

function refuseLinks(repository: Repository, source: string): void {
  for (const [path, { mode }] of repository) {
    if (path !== source && !source.startsWith(`${path}/`)) continue;
    if (mode === '120000') throw new Refused('SymlinkInRepository');
    if (mode === '160000') throw new Refused('SubmoduleInRepository');
  }
}

function trim(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

function isReserved(path: string): boolean {
  return path
    .split('/')
    .some((name) =>
      /^(?:\.resources|\.git|\.ignition-sync|\.sync-staging)$/.test(name.replaceAll('ſ', 's').toLowerCase()),
    );
}

function isUnsafe(path: string): boolean {
  const parts = path.split('/');
  const isBadPart = (part: string): boolean =>
    part === '' || part === '.' || part === '..' || Buffer.byteLength(part) > 255;
  const isBadCharacter = (character: string): boolean =>
    '`\\?*:|"<>\ufffd'.includes(character) || character < ' ' || (character >= '\x7f' && character <= '\x9f');
  return parts.some(isBadPart) || [...path].some(isBadCharacter);
}

/** patternsOf translates globs to regular expressions. */
function patternsOf(patterns: readonly string[]): (path: string) => boolean {
  const expressions = patterns.map((pattern) => {
    const whole = pattern.endsWith('/') ? `${pattern}**` : pattern;
    const source = whole
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replace(/\*\*|\*|\?/g, (token) => ({ '**': '[\\s\\S]*', '*': '[^/]*' })[token] ?? '[\\s\\S]');
    const atRoot = whole.startsWith('**/') ? source.replace('[\\s\\S]*/', '(?:[\\s\\S]*/)?') : source;
    return new RegExp(`^${atRoot}$`, 'u');
  });
  return (path) => expressions.some((expression) => expression.test(path));
}

const KNOWN: Readonly<Record<string, string>> = {
  '.GatewayName': VARIABLES.gatewayName,
  '.Namespace': VARIABLES.namespace,
  '.Commit': VARIABLES.commit,
  '.Vars.site': VARIABLES.vars.site,
  '.Vars.empty': '',
  '.Labels.app/name': VARIABLES.labels['app/name'],
};

function render(text: string): string {
  let rendered = text;
  for (const [name, value] of Object.entries(KNOWN)) {
    rendered = rendered.split(`{{${name}}}`).join(value).split(`{{ ${name} }}`).join(value);
  }
  if (/\{\{ ?\.Nope ?\}\}/.test(rendered)) throw new Refused('TemplateFailed');
  return rendered;
}

function fileOf(
  repository: Repository,
  path: string,
  { from, step, relative }: Chosen,
  settings: Settings,
  foundFields: Set<number>,
): ModelFile {
  if (from === undefined)
    return { bytes: Buffer.from('{}'), isExecutable: false, isJson: false, hasTransforms: false, refusal: undefined };
  const { mode, content } = repository.get(from) ?? {
    mode: '',
    content: { kind: 'bytes', bytes: Buffer.alloc(0) } as const,
  };
  const isConfig = path.split('/').at(-1) === 'config.json';
  const patches = (step.patches ?? []).filter(({ file }) => patternsOf([file])(relative));
  const edits: Edit[] = [];
  if (isConfig && settings.systemName !== undefined)
    edits.push({ kind: 'name', path: ['systemName'], text: render(settings.systemName) });
  if (isConfig)
    for (const [field, { jsonPath, valueTemplate }] of settings.fields.entries())
      edits.push({ kind: 'field', field, path: partsOf(jsonPath), text: render(valueTemplate) });
  for (const { set } of patches)
    for (const [jsonPath, text] of Object.entries(set))
      edits.push({ kind: 'patch', path: partsOf(jsonPath), text: render(text) });
  const hasTransforms = edits.length > 0 || step.template === true;
  if (isPointer(writeContent(content))) throw new Refused('LfsPointer');
  const changed = change(content, step.template === true, edits, foundFields);
  const isChecked = path.endsWith('.json') && (path.startsWith('projects/') || path.startsWith('config/'));
  const refusal = isChecked && !isValidJson(changed.bytes) ? 'ConfigSyntaxError' : undefined;
  // Only content that is compared with the live file byte by byte can already be in place.
  if (refusal !== undefined && (hasTransforms || path.endsWith('/resource.json'))) throw new Refused(refusal);
  return { ...changed, isExecutable: mode === '100755', hasTransforms, refusal };
}

interface Edit {
  readonly kind: 'name' | 'field' | 'patch';
  readonly path: readonly (string | number)[];
  readonly text: string;
  readonly field?: number;
}

function partsOf(jsonPath: string): (string | number)[] {
  return jsonPath
    .replaceAll('[', '.[')
    .split('.')
    .filter((part) => part !== '')
    .map((part) => (part.startsWith('[') ? Number(part.slice(1, -1)) : part));
}

function change(
  content: Content,
  isTemplate: boolean,
  edits: readonly Edit[],
  foundFields: Set<number>,
): { bytes: Buffer; isJson: boolean } {
  if (content.kind !== 'json') {
    const raw = writeContent(content);
    if (isTemplate && raw.subarray(0, 8192).includes(0)) throw new Refused('TemplateFailed');
    const bytes = isTemplate
      ? Buffer.from(render(raw.toString('latin1')).replace(/Zürich/g, 'Z\u00c3\u00bcrich'), 'latin1')
      : raw;
    if (edits.length === 0) return { bytes, isJson: false };
    // A resource.json has none of the edited paths; other bytes are not JSON.
    if (content.kind === 'resource' || isValidJson(bytes)) return editPlain(bytes, edits);
    throw new Refused('ConfigSyntaxError');
  }
  let document: JsonDocument = content.document;
  if (isTemplate) document = { ...document, root: mapRaw(document.root, render) };
  if (edits.length > 0 && !isValidJson(Buffer.from(writeDocument(document)))) throw new Refused('ConfigSyntaxError');
  let isJson = false;
  for (const edit of edits) {
    const set = setValue(document.root, edit.path, (old) => newValue(old, edit));
    document = { ...document, root: set.value };
    if (edit.kind === 'field' && set.found === 'yes') foundFields.add(edit.field ?? -1);
    if (edit.kind !== 'patch' || set.found === 'yes') continue;
    if (set.found === 'no') throw new Refused('TemplateFailed');
    document = { ...document, root: create(document.root, edit.path as readonly string[], edit.text) };
    isJson = true;
  }
  return { bytes: Buffer.from(writeDocument(document)), isJson };
}

function editPlain(bytes: Buffer, edits: readonly Edit[]): { bytes: Buffer; isJson: boolean } {
  const value = JSON.parse(bytes.toString()) as Record<string, unknown>;
  let isJson = false;
  for (const { kind, path, text } of edits) {
    if (kind !== 'patch') continue;
    if (path.some((part) => typeof part === 'number')) throw new Refused('TemplateFailed');
    let at = value;
    for (const part of path.slice(0, -1)) {
      at[part] ??= {};
      at = at[part] as Record<string, unknown>;
    }
    at[path.at(-1) ?? ''] = text;
    isJson = true;
  }
  return { bytes: isJson ? Buffer.from(JSON.stringify(value)) : bytes, isJson };
}

function newValue(old: Value, { kind, text }: Edit): Raw {
  const raw = 'raw' in old ? old.raw : '';
  const isNumber = /^-?[0-9]/.test(raw) && /^[0-9]+$/.test(text);
  const isBoolean = ['true', 'false'].includes(raw) && ['true', 'false'].includes(text);
  return { raw: kind !== 'name' && (isNumber || isBoolean) ? text : JSON.stringify(text) };
}

function create(value: Value, path: readonly string[], text: string): Value {
  const [name = '', ...rest] = path;
  const members = 'members' in value ? value.members : [];
  const existing = members.find((member) => member.name === name);
  const inner: Value =
    rest.length === 0 ? { raw: JSON.stringify(text) } : create(existing?.value ?? { members: [] }, rest, text);
  const member = { name, rawName: JSON.stringify(name), space: ['', '', '', ''] as const, value: inner };
  return {
    members: existing
      ? members.map((each) => (each === existing ? { ...each, value: inner } : each))
      : [...members, member],
  };
}

function isValidJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString().replace(/^\ufeff/, ''));
    return true;
  } catch {
    return false;
  }
}
