/** AuditEvent records one stage of a request, as the API server does. */
export interface AuditEvent {
  readonly auditID: string;
  /** A watch is recorded when it starts (ResponseStarted) and when it ends; all other requests only when they end. */
  readonly stage: 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  readonly level: 'Metadata' | 'Request' | 'RequestResponse';
  readonly verb: string;
  readonly requestURI: string;
  readonly user: AuditUser;
  readonly impersonatedUser?: AuditUser | undefined;
  readonly userAgent?: string | undefined;
  readonly sourceIPs?: readonly string[] | undefined;
  /** Absent for paths that are not resources. */
  readonly objectRef?: {
    readonly resource?: string | undefined;
    readonly subresource?: string | undefined;
    readonly namespace?: string | undefined;
    readonly name?: string | undefined;
    readonly uid?: string | undefined;
    readonly apiGroup?: string | undefined;
    readonly apiVersion?: string | undefined;
    readonly resourceVersion?: string | undefined;
  };
  readonly responseStatus?: {
    readonly code?: number | undefined;
    readonly reason?: string | undefined;
    readonly message?: string | undefined;
  };
  /** RFC 3339 with microseconds. */
  readonly requestReceivedTimestamp: string;
  /** RFC 3339 with microseconds. */
  readonly stageTimestamp: string;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** AuditUser is the user who made a request. */
export interface AuditUser {
  readonly username?: string | undefined;
  readonly uid?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}
