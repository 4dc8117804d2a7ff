import { parseDuration } from '@bowline/machinery';
import { POD_ANNOTATIONS } from '../api/names.ts';
import { relativePathProblem } from '../checks/relative-path.ts';
import { textProblem } from '../checks/text-check.ts';
import { GLOB } from '../checks/text-limits.ts';
import type { TreeSettings } from '../engine/tree/desired-tree.ts';
import { gatewayMappings, profileMappings, tagProviderPatterns } from '../engine/tree/gateway-mappings.ts';
import type { Mapping } from '../engine/tree/mapping.ts';
import type { AgentProfile } from '../protocol/agent-profile.ts';
import type { AgentSettings } from '../protocol/agent-settings.ts';
import type { SyncMetadata } from '../protocol/metadata.ts';
import type { GatewayPlan } from '../protocol/rollout-plan.ts';
import { renderTemplate, TemplateError } from '../templates/render-template.ts';
import type { TemplateVariables } from '../templates/template-variables.ts';

/** GatewayContext holds what the settings of one gateway follow from. */
export interface GatewayContext {
  readonly metadata: SyncMetadata;
  /** The plan of this gateway. */
  readonly plan: Pick<GatewayPlan, 'commit' | 'ref'> | undefined;
  /** The annotations and labels of its pod. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly podName: string;
  readonly namespace: string;
  readonly gatewayName: string;
}

/** SettingsProblem is why a gateway cannot be synced, as errorReason and errorMessage of its report. */
export interface SettingsProblem {
  readonly reason:
    | 'ProfileNotFound'
    | 'ProfileNotAccepted'
    | 'ServicePathMissing'
    | 'UnsafePath'
    | 'InvalidAnnotation'
    | 'TemplateFailed';
  readonly message: string;
}

/** EffectiveSettings are the settings of one gateway: its annotations, else its profile, else the IgnitionSync. */
export interface EffectiveSettings {
  readonly tree: TreeSettings;
  /** How often the agent compares its state, in addition to each change. */
  readonly syncPeriodMs: number;
  /** Whether nothing is fetched or placed. */
  readonly paused: boolean;
  /** Whether changes are only reported. */
  readonly dryRun: boolean;
  readonly designerSessionPolicy: AgentSettings['ignition']['designerSessionPolicy'];
  readonly designerSessionTimeoutMs: number;
  readonly perspectiveSessionPolicy: AgentSettings['ignition']['perspectiveSessionPolicy'];
  readonly perspectiveSessionTimeoutMs: number;
  /** What is unusual, and possibly a mistake. */
  readonly warnings: readonly string[];
}

/** EffectiveResult is the settings of a gateway, or why it has none. */
export type EffectiveResult =
  | { readonly settings: EffectiveSettings; readonly problem?: undefined }
  | { readonly settings?: undefined; readonly problem: SettingsProblem };

type ProfileSpec = NonNullable<AgentProfile['spec']>;

const DEFAULT_SYNC_PERIOD_SECONDS = 30;
const SYNC_PERIOD = { min: 5, max: 3600 } as const;
const MAX_PATTERNS = 256;

/** effectiveSettings returns the settings of a gateway, or a problem that its user has to fix. It is pure. */
export function effectiveSettings(context: GatewayContext): EffectiveResult {
  try {
    return { settings: readSettings(context) };
  } catch (error) {
    if (error instanceof InvalidSettings) return { problem: error.problem };
    if (error instanceof TemplateError) return { problem: { reason: 'TemplateFailed', message: error.message } };
    throw error;
  }
}

/** InvalidSettings carries a problem out of nested calls. */
class InvalidSettings extends Error {
  readonly problem: SettingsProblem;

  constructor(reason: SettingsProblem['reason'], message: string) {
    super(message);
    this.problem = { reason, message };
  }
}

function readSettings(context: GatewayContext): EffectiveSettings {
  const { metadata, plan, labels, podName, namespace, gatewayName } = context;
  const { settings } = metadata;
  const { ignition, siteNumber } = settings;
  const profile = profileOf(context);
  const variables: TemplateVariables = {
    gatewayName,
    podName,
    namespace,
    siteNumber,
    ref: plan?.ref,
    commit: plan?.commit,
    vars: profile?.vars,
    labels,
  };
  const annotations = new Annotations(context.annotations, variables);
  const placed = placedFiles(annotations, settings, profile);
  return {
    tree: {
      ...placed,
      excludePatterns: excludePatternsOf(annotations, metadata.excludePatterns, profile),
      variables,
      systemName: systemNameOf(annotations, settings),
      fields: settings.normalize?.fields,
    },
    syncPeriodMs: syncPeriodOf(annotations, profile) * 1_000,
    paused: metadata.paused || (profile?.paused ?? false),
    dryRun: profile?.dryRun ?? false,
    designerSessionPolicy: profile?.designerSessionPolicy ?? ignition.designerSessionPolicy,
    designerSessionTimeoutMs: parseDuration(ignition.designerSessionTimeout),
    perspectiveSessionPolicy: ignition.perspectiveSessionPolicy,
    perspectiveSessionTimeoutMs: parseDuration(ignition.perspectiveSessionTimeout),
    warnings: warningsOf(placed.mappings),
  };
}

/** Annotations reads the annotations of a pod. An empty one counts as missing. */
class Annotations {
  readonly #annotations: Readonly<Record<string, string>>;
  readonly #variables: TemplateVariables;

  constructor(annotations: Readonly<Record<string, string>>, variables: TemplateVariables) {
    this.#annotations = annotations;
    this.#variables = variables;
  }

  /** text returns an annotation as it is. */
  text(id: keyof typeof POD_ANNOTATIONS): string | undefined {
    return this.#annotations[POD_ANNOTATIONS[id]]?.trim() || undefined;
  }

  /** rendered returns an annotation with its variables replaced. */
  rendered(id: keyof typeof POD_ANNOTATIONS): string | undefined {
    const text = this.text(id);
    return text === undefined ? undefined : renderTemplate(text, this.#variables, { source: POD_ANNOTATIONS[id] });
  }

  /** segment returns a rendered annotation that is one part of a path. */
  segment(id: keyof typeof POD_ANNOTATIONS): string | undefined {
    const text = this.rendered(id);
    return text === undefined ? undefined : checkSegment(id, text);
  }

  /** list returns the parts of an annotation between commas. */
  list(id: keyof typeof POD_ANNOTATIONS): string[] {
    const parts = this.rendered(id)?.split(',') ?? [];
    return parts.map((part) => part.trim()).filter((part) => part !== '');
  }
}

function profileOf({ metadata, annotations }: GatewayContext): ProfileSpec | undefined {
  const name = annotations[POD_ANNOTATIONS.syncProfile]?.trim();
  if (!name) return undefined;
  const profile = Object.hasOwn(metadata.profiles, name) ? metadata.profiles[name] : undefined;
  if (profile === undefined) {
    const message = `SyncProfile ${name} does not exist; create it, or correct the annotation ${POD_ANNOTATIONS.syncProfile}`;
    throw new InvalidSettings('ProfileNotFound', message);
  }
  if (profile.spec === undefined || profile.problem !== undefined) {
    throw new InvalidSettings('ProfileNotAccepted', `SyncProfile ${name}: ${profile.problem ?? 'it has no spec'}`);
  }
  return profile.spec;
}

/** placedFiles returns the mappings: those of the profile, or those of the annotations and the IgnitionSync. */
function placedFiles(
  annotations: Annotations,
  settings: AgentSettings,
  profile: ProfileSpec | undefined,
): Pick<TreeSettings, 'servicePath'> & { readonly mappings: readonly Mapping[] } {
  const mode = annotations.segment('deploymentMode');
  if (profile !== undefined) {
    // The folder of the profile is for its own mode.
    const overlay = mode === undefined || mode === profile.deploymentMode?.name ? profile.deploymentMode : undefined;
    return { mappings: profileMappings(profile.mappings, overlay) };
  }
  const servicePath = servicePathOf(annotations);
  const { shared, additionalFiles } = settings;
  const mappings = gatewayMappings({
    servicePath,
    deploymentMode: mode,
    externalResources: enabled(shared?.externalResources),
    scripts: enabled(shared?.scripts),
    udts: enabled(shared?.udts),
    tagProvider: annotations.segment('tagProvider'),
    tagInheritanceStrategy: tagInheritanceOf(annotations),
    additionalFiles,
  });
  return { servicePath, mappings };
}

function servicePathOf(annotations: Annotations): string {
  const path = annotations.rendered('servicePath');
  const { servicePath, syncProfile } = POD_ANNOTATIONS;
  if (path === undefined) {
    const message = `the pod has neither the annotation ${servicePath} nor ${syncProfile}; set one, "." is the whole repository`;
    throw new InvalidSettings('ServicePathMissing', message);
  }
  const problem = relativePathProblem(path, { allowRoot: true });
  if (problem !== undefined) throw new InvalidSettings('UnsafePath', `annotation ${servicePath}: the path ${problem}`);
  return path;
}

/** enabled returns a shared source that is enabled. The schema requires a source then. */
function enabled<T extends { readonly enabled: boolean; readonly source?: string | undefined }>(
  part: T | undefined,
): (T & { readonly source: string }) | undefined {
  return part?.enabled && part.source !== undefined ? { ...part, source: part.source } : undefined;
}

function tagInheritanceOf(annotations: Annotations): 'full' | 'leaf-only' | undefined {
  const strategy = annotations.text('tagInheritanceStrategy');
  if (strategy === undefined || strategy === 'full' || strategy === 'leaf-only') return strategy;
  throw invalid('tagInheritanceStrategy', 'it must be full or leaf-only');
}

function excludePatternsOf(
  annotations: Annotations,
  common: readonly string[],
  profile: ProfileSpec | undefined,
): readonly string[] {
  const own = annotations.list('excludePatterns');
  for (const pattern of own) {
    const problem = textProblem(pattern, GLOB);
    if (problem !== undefined) throw invalid('excludePatterns', `a pattern ${problem}`);
  }
  const providers = annotations.list('excludeTagProviders').map((name) => checkSegment('excludeTagProviders', name));
  if (own.length + providers.length > MAX_PATTERNS) throw invalid('excludePatterns', 'it has too many patterns');
  return [...common, ...(profile?.excludePatterns ?? []), ...own, ...tagProviderPatterns(providers)];
}

/** An annotation requests the change of the system name, too. */
function systemNameOf(annotations: Annotations, { normalize }: AgentSettings): string | undefined {
  const own = annotations.text('systemName') ?? annotations.text('systemNameTemplate');
  return own ?? (normalize?.systemName ? '{{.GatewayName}}' : undefined);
}

function syncPeriodOf(annotations: Annotations, profile: ProfileSpec | undefined): number {
  const text = annotations.text('syncPeriod');
  if (text === undefined) return profile?.syncPeriod ?? DEFAULT_SYNC_PERIOD_SECONDS;
  const seconds = Number(text);
  if (!/^[0-9]{1,4}$/.test(text) || seconds < SYNC_PERIOD.min || seconds > SYNC_PERIOD.max)
    throw invalid('syncPeriod', `it must be a number of seconds from ${SYNC_PERIOD.min} to ${SYNC_PERIOD.max}`);
  return seconds;
}

const NOT_IN_SEGMENT = /[/*?]/;

function checkSegment(id: keyof typeof POD_ANNOTATIONS, text: string): string {
  const problem = NOT_IN_SEGMENT.test(text) ? 'must not contain "/", "*" or "?"' : relativePathProblem(text);
  if (problem !== undefined) throw invalid(id, `the name ${problem}`);
  return text;
}

function invalid(id: keyof typeof POD_ANNOTATIONS, problem: string): InvalidSettings {
  return new InvalidSettings('InvalidAnnotation', `annotation ${POD_ANNOTATIONS[id]}: ${problem}`);
}

const LOCAL = 'config/resources/local';

/** warningsOf names mappings onto the collection that holds the keys of a gateway. */
function warningsOf(mappings: readonly Mapping[]): string[] {
  const onto = mappings.filter(({ destination }) => destination === LOCAL || destination.startsWith(`${LOCAL}/`));
  return onto.map(
    ({ destination }) =>
      `${destination} is the gateway's own collection, with its keys; place these files into config/resources/core instead`,
  );
}
