import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import type * as libraries from '../agent-protocol/libraries.ts';

/** API_VERSION is the version of kubelet's device plugin API. */
export const API_VERSION = 'v1beta1';

/** PluginOptions announces the optional calls that a plugin needs. */
export interface PluginOptions {
  readonly preStartRequired: boolean;
  readonly getPreferredAllocationAvailable: boolean;
}

/** RegisterRequest announces a plugin to kubelet. */
export interface RegisterRequest {
  readonly version: string;
  /** The name of the plugin's socket in the folder of kubelet's own. */
  readonly endpoint: string;
  readonly resourceName: string;
  readonly options: PluginOptions;
}

/** PluginDevice is a device of a resource. */
export interface PluginDevice {
  readonly ID: string;
  readonly health: 'Healthy' | 'Unhealthy';
}

/** DeviceListMessage holds all devices of a resource. */
export interface DeviceListMessage {
  readonly devices: readonly PluginDevice[];
}

/** AllocateRequest asks for devices, for each container. */
export interface AllocateRequest {
  readonly containerRequests: readonly { readonly devicesIds: readonly string[] }[];
}

/** DeviceNode is a device node that a container gets. */
export interface DeviceNode {
  readonly containerPath: string;
  readonly hostPath: string;
  readonly permissions: string;
}

/** AllocateResponse holds the device nodes, for each container. */
export interface AllocateResponse {
  readonly containerResponses: readonly { readonly devices: readonly DeviceNode[] }[];
}

/** PreferenceRequest asks which of the available devices to use, for each container. */
export interface PreferenceRequest {
  readonly containerRequests: readonly {
    readonly availableDeviceIDs: readonly string[];
    readonly mustIncludeDeviceIDs: readonly string[];
    readonly allocationSize: number;
  }[];
}

/** PreferenceResponse holds the chosen devices, for each container. */
export interface PreferenceResponse {
  readonly containerResponses: readonly { readonly deviceIDs: readonly string[] }[];
}

/** NoFields is a message without fields. */
export type NoFields = Readonly<Record<never, never>>;

/** Registration is the service of kubelet. */
export interface Registration {
  readonly Register: MethodDefinition<RegisterRequest, NoFields>;
}

/** DevicePlugin is the service of a plugin. */
export interface DevicePlugin extends ServiceDefinition {
  readonly GetDevicePluginOptions: MethodDefinition<NoFields, PluginOptions>;
  readonly ListAndWatch: MethodDefinition<NoFields, DeviceListMessage>;
  readonly GetPreferredAllocation: MethodDefinition<PreferenceRequest, PreferenceResponse>;
  readonly Allocate: MethodDefinition<AllocateRequest, AllocateResponse>;
  readonly PreStartContainer: MethodDefinition<NoFields, NoFields>;
}

/** DevicePluginApi holds both services and the gRPC library. */
export interface DevicePluginApi {
  readonly grpc: typeof libraries.grpc;
  readonly registration: Registration;
  readonly devicePlugin: DevicePlugin;
}

/** A field is its number and type; `[]` marks a list. Fields of the API that this plugin never sets are left out. */
const MESSAGES: Readonly<Record<string, Readonly<Record<string, readonly [id: number, type: string]>>>> = {
  Empty: {},
  DevicePluginOptions: { preStartRequired: [1, 'bool'], getPreferredAllocationAvailable: [2, 'bool'] },
  RegisterRequest: {
    version: [1, 'string'],
    endpoint: [2, 'string'],
    resourceName: [3, 'string'],
    options: [4, 'DevicePluginOptions'],
  },
  Device: { ID: [1, 'string'], health: [2, 'string'] },
  ListAndWatchResponse: { devices: [1, 'Device[]'] },
  ContainerAllocateRequest: { devicesIds: [1, 'string[]'] },
  AllocateRequest: { containerRequests: [1, 'ContainerAllocateRequest[]'] },
  DeviceSpec: { containerPath: [1, 'string'], hostPath: [2, 'string'], permissions: [3, 'string'] },
  ContainerAllocateResponse: { devices: [3, 'DeviceSpec[]'] },
  AllocateResponse: { containerResponses: [1, 'ContainerAllocateResponse[]'] },
  ContainerPreferredAllocationRequest: {
    availableDeviceIDs: [1, 'string[]'],
    mustIncludeDeviceIDs: [2, 'string[]'],
    allocationSize: [3, 'int32'],
  },
  PreferredAllocationRequest: { containerRequests: [1, 'ContainerPreferredAllocationRequest[]'] },
  ContainerPreferredAllocationResponse: { deviceIDs: [1, 'string[]'] },
  PreferredAllocationResponse: { containerResponses: [1, 'ContainerPreferredAllocationResponse[]'] },
  PreStartContainerRequest: { devicesIds: [1, 'string[]'] },
  PreStartContainerResponse: {},
};

const SERVICES = {
  Registration: { methods: { Register: { requestType: 'RegisterRequest', responseType: 'Empty' } } },
  DevicePlugin: {
    methods: {
      GetDevicePluginOptions: { requestType: 'Empty', responseType: 'DevicePluginOptions' },
      ListAndWatch: { requestType: 'Empty', responseType: 'ListAndWatchResponse', responseStream: true },
      GetPreferredAllocation: {
        requestType: 'PreferredAllocationRequest',
        responseType: 'PreferredAllocationResponse',
      },
      Allocate: { requestType: 'AllocateRequest', responseType: 'AllocateResponse' },
      PreStartContainer: { requestType: 'PreStartContainerRequest', responseType: 'PreStartContainerResponse' },
    },
  },
};

let loaded: Promise<DevicePluginApi> | undefined;

/** loadDevicePluginApi loads the gRPC library and the API, once: only nodes with kubelet and a device need them. */
export function loadDevicePluginApi(): Promise<DevicePluginApi> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<DevicePluginApi> {
  const { grpc, fromJSON } = await import('../agent-protocol/libraries.ts');
  const messages = Object.entries(MESSAGES).map(([name, declared]) => {
    const fields = Object.entries(declared).map(([field, [id, type]]) => {
      const isList = type.endsWith('[]');
      return [field, isList ? { id, type: type.slice(0, -2), rule: 'repeated' } : { id, type }];
    });
    return [name, { fields: Object.fromEntries(fields) }];
  });
  const nested = { ...Object.fromEntries(messages), ...SERVICES };
  const types = fromJSON(
    { nested: { [API_VERSION]: { nested } } },
    { keepCase: true, longs: Number, defaults: true, arrays: true },
  );
  // The types of the messages are declared above, next to their fields.
  return {
    grpc,
    registration: types[`${API_VERSION}.Registration`] as unknown as Registration,
    devicePlugin: types[`${API_VERSION}.DevicePlugin`] as unknown as DevicePlugin,
  };
}
