import { basename, join } from 'node:path';

/** ServerPlacement holds what a SPIRE server on loopback uses in place of the paths and addresses of its pod. */
export interface ServerPlacement {
  /** The folder in place of `data_dir`; the files that are configured by path keep their names in it. */
  readonly dataFolder: string;
  readonly socket: string;
  readonly kubeconfig: string;
  readonly apiPort: number;
  readonly healthPort: number;
  readonly metricsPort: number;
  readonly federationPort: number;
}

/** AgentPlacement holds what a SPIRE agent on loopback uses in place of the paths and addresses of its pod. */
export interface AgentPlacement {
  readonly dataFolder: string;
  readonly socket: string;
  readonly bundle: string;
  readonly token: string;
  readonly serverPort: number;
  readonly healthPort: number;
  readonly metricsPort: number;
}

/** OidcPlacement holds what an OIDC discovery provider on loopback uses in place of the paths and ports of its pod. */
export interface OidcPlacement {
  readonly agentSocket: string;
  readonly certificate: string;
  readonly key: string;
  readonly port: number;
  readonly healthPort: number;
}

/** ControllerManagerPlacement holds what a controller manager on loopback uses in place of the paths and ports of its pod. */
export interface ControllerManagerPlacement {
  readonly serverSocket: string;
  readonly healthPort: number;
  readonly metricsPort: number;
}

interface Section {
  [key: string]: unknown;
}

const LOOPBACK = '127.0.0.1';

/** serverOnLoopback returns a rendered `server.conf` with only its paths, addresses and credentials replaced. */
export function serverOnLoopback(text: string, place: ServerPlacement): string {
  const config = parse(text);
  const server = section(config, 'server');
  Object.assign(server, {
    bind_address: LOOPBACK,
    bind_port: `${place.apiPort}`,
    data_dir: place.dataFolder,
    socket_path: place.socket,
  });
  if (server.federation !== undefined) {
    Object.assign(section(server, 'federation', 'bundle_endpoint'), { address: LOOPBACK, port: place.federationPort });
  }
  listenOnLoopback(config, place);
  const datastore = pluginData(config, 'DataStore', 'sql');
  // Another database is where its connection string says.
  if (datastore.database_type === 'sqlite3') {
    datastore.connection_string = join(place.dataFolder, basename(String(datastore.connection_string)));
  }
  if (hasPlugin(config, 'KeyManager', 'disk')) {
    const keys = pluginData(config, 'KeyManager', 'disk');
    keys.keys_path = join(place.dataFolder, basename(String(keys.keys_path)));
  }
  const clusters = section(pluginData(config, 'NodeAttestor', 'k8s_psat'), 'clusters');
  for (const name of Object.keys(clusters)) section(clusters, name).kube_config_file = place.kubeconfig;
  pluginData(config, 'Notifier', 'k8sbundle').kube_config_file_path = place.kubeconfig;
  return JSON.stringify(config, undefined, 2);
}

/**
 * agentOnLoopback returns a rendered `agent.conf` with only its paths and addresses replaced, and workloads attested by their Unix
 * user: there is no kubelet to ask.
 */
export function agentOnLoopback(text: string, place: AgentPlacement): string {
  const config = parse(text);
  Object.assign(section(config, 'agent'), {
    data_dir: place.dataFolder,
    server_address: LOOPBACK,
    server_port: `${place.serverPort}`,
    socket_path: place.socket,
    trust_bundle_path: place.bundle,
  });
  listenOnLoopback(config, place);
  pluginData(config, 'NodeAttestor', 'k8s_psat').token_path = place.token;
  section(config, 'plugins').WorkloadAttestor = [{ unix: { plugin_data: {} } }];
  return JSON.stringify(config, undefined, 2);
}

/** oidcOnLoopback returns a rendered `oidc-discovery-provider.conf` with only its paths and ports replaced. */
export function oidcOnLoopback(text: string, place: OidcPlacement): string {
  const config = parse(text);
  section(config, 'health_checks').bind_port = `${place.healthPort}`;
  Object.assign(section(config, 'serving_cert_file'), {
    addr: `${LOOPBACK}:${place.port}`,
    cert_file_path: place.certificate,
    key_file_path: place.key,
  });
  section(config, 'workload_api').socket_path = place.agentSocket;
  return JSON.stringify(config, undefined, 2);
}

/** controllerManagerOnLoopback returns a rendered `controller-manager-config.yaml` with only its paths and ports replaced. */
export function controllerManagerOnLoopback(text: string, place: ControllerManagerPlacement): string {
  const config = parse(text);
  section(config, 'metrics').bindAddress = `${LOOPBACK}:${place.metricsPort}`;
  section(config, 'health').healthProbeBindAddress = `${LOOPBACK}:${place.healthPort}`;
  config.spireServerSocketPath = place.serverSocket;
  return JSON.stringify(config, undefined, 2);
}

function listenOnLoopback(config: Section, place: { readonly healthPort: number; readonly metricsPort: number }): void {
  Object.assign(section(config, 'health_checks'), { bind_address: LOOPBACK, bind_port: `${place.healthPort}` });
  if (config.telemetry !== undefined) {
    Object.assign(section(config, 'telemetry', 'Prometheus'), { host: LOOPBACK, port: `${place.metricsPort}` });
  }
}

function parse(text: string): Section {
  return asSection(JSON.parse(text), 'the file');
}

function pluginData(config: Section, type: string, name: string): Section {
  return section(config, 'plugins', type, name, 'plugin_data');
}

function hasPlugin(config: Section, type: string, name: string): boolean {
  return name in section(config, 'plugins', type);
}

/** Fails if a section is missing: a replacement that has no effect would go unnoticed until the program uses the wrong path. */
function section(parent: Section, ...path: readonly string[]): Section {
  let found = parent;
  for (const [index, key] of path.entries()) {
    const value = found[key];
    // JSON for HCL writes a block as a list with one element.
    found = asSection(
      Array.isArray(value) && value.length === 1 ? value[0] : value,
      path.slice(0, index + 1).join('.'),
    );
  }
  return found;
}

function asSection(value: unknown, name: string): Section {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError(`cannot place a SPIRE configuration on loopback: ${name} is not an object`);
  }
  return value as Section;
}
