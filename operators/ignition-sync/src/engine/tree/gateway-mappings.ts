import type { Mapping } from './mapping.ts';

/** SharedSource is a part of the repository that several gateways share. */
export interface SharedSource {
  readonly source: string;
}

/** GatewayLayout holds where the files of a gateway are in the repository, when its pod names no profile. */
export interface GatewayLayout {
  /** The folder of the gateway; `.` is the root. */
  readonly servicePath: string;
  /** The folder below config/resources that is placed over core. Defaults to none. */
  readonly deploymentMode?: string | undefined;
  readonly externalResources?: (SharedSource & { readonly createFallback?: boolean | undefined }) | undefined;
  /** `destPath` is relative to each project. Defaults to ignition/script-python. */
  readonly scripts?: (SharedSource & { readonly destPath?: string | undefined }) | undefined;
  readonly udts?: SharedSource | undefined;
  /** The tag provider of shared UDTs. Defaults to default. */
  readonly tagProvider?: string | undefined;
  /** `leaf-only` places no UDT that the shared ones contain. Defaults to full. */
  readonly tagInheritanceStrategy?: 'full' | 'leaf-only' | undefined;
  readonly additionalFiles?:
    | readonly { readonly source: string; readonly dest: string; readonly type?: 'file' | 'dir' | undefined }[]
    | undefined;
}

/** CORE is the collection of resources that a gateway edits itself. */
const CORE = 'config/resources/core';
const EXTERNAL = 'config/resources/external';

/** gatewayMappings returns the mappings of a gateway without a profile, in their order: later ones override earlier ones. */
export function gatewayMappings(layout: GatewayLayout): Mapping[] {
  const { servicePath, deploymentMode, externalResources, scripts, udts, additionalFiles = [] } = layout;
  const own = (path: string): string => (servicePath === '.' ? path : `${servicePath.replace(/\/+$/, '')}/${path}`);
  const mappings: Mapping[] = [
    { source: own('projects'), destination: 'projects', type: 'dir' },
    { source: own(CORE), destination: CORE, type: 'dir' },
  ];
  if (externalResources !== undefined) {
    const fallback = { path: `${EXTERNAL}/config-mode.json`, content: '{}' };
    const { source, createFallback = false } = externalResources;
    mappings.push({ source, destination: EXTERNAL, type: 'dir', ...(createFallback ? { fallback } : {}) });
  }
  if (scripts !== undefined) {
    const { source, destPath = 'ignition/script-python' } = scripts;
    mappings.push({ source, destination: destPath, type: 'dir', eachProject: true });
  }
  if (udts !== undefined) {
    const destination = `${CORE}/ignition/tag-type-definition/${layout.tagProvider ?? 'default'}`;
    mappings.push({
      source: udts.source,
      destination,
      type: 'dir',
      withheld: layout.tagInheritanceStrategy === 'leaf-only',
    });
  }
  if (deploymentMode !== undefined)
    mappings.push({ source: own(`config/resources/${deploymentMode}`), destination: CORE, type: 'dir' });
  for (const { source, dest, type = 'file' } of additionalFiles) mappings.push({ source, destination: dest, type });
  return mappings;
}

/** profileMappings returns the mappings of a profile: its own in their order, then its deployment mode over core. */
export function profileMappings(mappings: readonly Mapping[], deploymentMode?: SharedSource): Mapping[] {
  if (deploymentMode === undefined) return [...mappings];
  return [...mappings, { source: deploymentMode.source, destination: CORE, type: 'dir' }];
}

/** tagProviderPatterns returns the exclude patterns for tag providers whose tags and types a gateway does not take. */
export function tagProviderPatterns(providers: readonly string[]): string[] {
  return providers.flatMap((provider) =>
    ['tag-definition', 'tag-type-definition'].map((kind) => `config/resources/*/ignition/${kind}/${provider}/`),
  );
}
