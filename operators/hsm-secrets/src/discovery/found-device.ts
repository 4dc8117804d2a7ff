/** FoundDevice is a device on this node. */
export interface FoundDevice {
  readonly devicePath: string;
  readonly serialNumber: string | undefined;
  /** False for a device node that the agent could not use. */
  readonly available: boolean;
  readonly deviceInfo: Readonly<Record<string, string>>;
}

/** HostRoots are where the file systems of the node are mounted. */
export interface HostRoots {
  /** Of `/sys`. */
  readonly sysfs: string;
  /** Of `/dev`. */
  readonly dev: string;
}
