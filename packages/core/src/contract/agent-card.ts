/** A short view of an agent, for display in other resources. */
export interface AgentCard {
  readonly id: string;
  readonly name: string;
  readonly avatarUrl: string | null;
}
