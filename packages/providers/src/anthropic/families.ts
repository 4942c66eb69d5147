/** Features of an Anthropic model, derived from its name. An unknown name counts as the oldest family, a newer version as the newest. */
export interface ModelFamily {
  /** Adaptive thinking with an effort level. Other models need a token budget. */
  readonly adaptiveThinking: boolean;
  /** Thinking can be switched off. */
  readonly optionalThinking: boolean;
  readonly effort: boolean;
  /** Takes temperature, top_p and top_k. */
  readonly sampling: boolean;
  /** Supports a forced tool call. */
  readonly forcedTools: boolean;
  /** Supports structured output by schema. */
  readonly schemas: boolean;
  /**
   * Refuses thoughts whose conversation has changed since, unless asked to drop them. Haiku 5.5 checks prefixes too, but
   * dropping is not documented for it: it relies on blocks that go back in their order.
   */
  readonly bindsThoughts: boolean;
}

/** @see https://platform.claude.com/docs/en/about-claude/models/overview */
export function getFamily(model: string): ModelFamily {
  const generation5 = /claude-[a-z]+-([5-9]|\d\d)(?!\d)/.test(model);
  const adaptiveThinking = generation5 || /claude-(opus|sonnet)-4-[678](?!\d)/.test(model);
  return {
    adaptiveThinking,
    optionalThinking: !/claude-((opus|sonnet)-5-5|fable-5)(?!\d)/.test(model),
    effort: adaptiveThinking || /claude-opus-4-5(?!\d)/.test(model),
    sampling: !generation5 && !/claude-opus-4-[78](?!\d)/.test(model),
    forcedTools: !/claude-((opus|sonnet)-5-5|fable-5-[12])(?!\d)/.test(model),
    schemas: adaptiveThinking || /claude-(opus-4-[15]|(sonnet|haiku)-4-5)(?!\d)/.test(model),
    bindsThoughts: /claude-((opus|sonnet)-5-5|fable-5-[12])(?!\d)/.test(model),
  };
}
