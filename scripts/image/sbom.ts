import { createHash } from 'node:crypto';
import { runProgram } from '../../bench/support/run-program.ts';
import { PKCS11JS } from '../../operators/hsm-secrets/src/pkcs11/load-pkcs11.ts';
import { repositoryRoot } from '../repository.ts';
import type { SourceState } from './image-manifest.ts';
import { type ImageOptions, version } from './image-options.ts';
import type { LockedPackage, PackageLock } from './package-lock.ts';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly [field: string]: unknown;
}

interface Bom {
  readonly metadata: { readonly component: Component; readonly [field: string]: unknown };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
  readonly [field: string]: unknown;
}

/** SbomOptions describes the image. */
export interface SbomOptions extends ImageOptions {
  readonly lock: PackageLock;
  readonly source: SourceState;
  readonly digest: string;
  /** The npm packages in the bundle: others that are installed are not shipped. */
  readonly bundled: ReadonlySet<string>;
}

/** imageSbom returns a CycloneDX document: that of npm, limited to the bundle, with Node and Debian's packages. */
export async function imageSbom(options: SbomOptions): Promise<string> {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--workspace', 'bowline'];
  const bom = JSON.parse(await runProgram('npm', args, { cwd: repositoryRoot, env: process.env })) as Bom;
  return `${JSON.stringify(completeBom(bom, options), null, 2)}\n`;
}

/** completeBom adds to npm's document what else the image contains, and replaces what differs between two runs. */
export function completeBom(bom: Bom, options: SbomOptions): Bom {
  const { lock, platform, target, source, digest, bundled } = options;
  const { manager, pkcs11 } = lock.packages[platform];
  const ours = bom.components.filter((each) => bundled.has(nameOf(each)) || isOwn(each));
  const components = [
    ...ours,
    ...(target === 'pkcs11' ? [npmComponent(PKCS11JS.name, PKCS11JS.version)] : []),
    nodeComponent(lock.node.version),
    ...[...manager, ...(target === 'pkcs11' ? pkcs11 : [])].map(debianComponent),
  ];
  const root = `bowline-image@${version()}`;
  const refs = new Set(components.map((each) => each['bom-ref']));
  return {
    ...bom,
    serialNumber: `urn:uuid:${uuidOf(digest)}`,
    metadata: {
      ...bom.metadata,
      timestamp: new Date(source.time * 1000).toISOString(),
      component: {
        'bom-ref': root,
        type: 'container',
        name: 'bowline',
        version: version(),
        hashes: [{ alg: 'SHA-256', content: digest.replace('sha256:', '') }],
        licenses: [{ license: { id: 'Apache-2.0' } }],
        properties: [
          { name: 'bowline:target', value: target },
          { name: 'bowline:platform', value: platform },
        ],
      },
    },
    components,
    dependencies: [
      { ref: root, dependsOn: [...refs] },
      ...bom.dependencies
        .filter(({ ref }) => refs.has(ref))
        .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) })),
    ],
  };
}

/** npm names workspaces after their folders; the reference has the name of the package. */
function nameOf({ 'bom-ref': ref }: Component): string {
  return ref.slice(0, ref.lastIndexOf('@'));
}

function isOwn(component: Component): boolean {
  const name = nameOf(component);
  return name === 'bowline' || name.startsWith('@bowline/');
}

function npmComponent(name: string, packageVersion: string): Component {
  return {
    'bom-ref': `${name}@${packageVersion}`,
    type: 'library',
    name,
    version: packageVersion,
    purl: `pkg:npm/${name}@${packageVersion}`,
  };
}

function nodeComponent(nodeVersion: string): Component {
  return {
    'bom-ref': `node@${nodeVersion}`,
    type: 'application',
    name: 'node',
    version: nodeVersion,
    purl: `pkg:generic/node@${nodeVersion}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${nodeVersion}:*:*:*:*:*:*:*`,
  };
}

function debianComponent({ name, version: debianVersion, architecture, sha256 }: LockedPackage): Component {
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(debianVersion)}`;
  return {
    'bom-ref': `deb:${name}@${debianVersion}`,
    type: 'library',
    name,
    version: debianVersion,
    purl: `${purl}?arch=${architecture}&distro=debian-12`,
    hashes: [{ alg: 'SHA-256', content: sha256 }],
  };
}

/** uuidOf derives the serial number from the image, so that the same image has the same document. */
function uuidOf(digest: string): string {
  const hex = createHash('sha256').update(digest).digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
