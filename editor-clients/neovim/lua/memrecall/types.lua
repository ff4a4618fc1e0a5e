---@meta
--- The daemon's answers, as they come off the wire. Times are in milliseconds unless a name says otherwise;
--- what the daemon sends as null, or leaves out, is nil.

---@class memrecall.Match
---@field term string
---@field field 'title'|'description'|'body'
---@field weight number

---@class memrecall.Document
---@field scope 'project'|'user'
---@field type 'user'|'feedback'|'project'|'reference'|'note'
---@field title string
---@field description string
---@field path string
---@field relativePath string
---@field savedAt string ISO 8601 in UTC
---@field age string "saved today", "saved 3 days ago"
---@field body string at most 1,200 characters
---@field truncated boolean
---@field matched? memrecall.Match[]
---@field score? number of a search

---@class memrecall.Delivery
---@field id string
---@field phase 'fast'|'refined'
---@field strategy 'heuristic'|'model'
---@field prompt string for the model
---@field documents memrecall.Document[]

---@class memrecall.Fast
---@field turnId string
---@field endedBy 'published'|'settled'|'ceiling'
---@field delivery? memrecall.Delivery
---@field pending boolean a later delivery may come
---@field partial boolean some notes could not be read in time
---@field waitMs number

---@class memrecall.ToolResult
---@field turnId? string
---@field state 'pending'|'delivered'|'already_delivered'|'no_relevant_results'|'none'
---@field delivery? memrecall.Delivery

---@class memrecall.Outcome
---@field turnId string
---@field deliveryPoint 'initial'|'tool_result'|'discarded'
---@field discardReason? string
---@field strategy 'none'|'heuristic'|'model'
---@field phase 'refined'
---@field documents integer
---@field fastDocuments integer
---@field scanned integer
---@field candidates integer
---@field queryLength integer
---@field scanMs number
---@field rankMs number
---@field selectMs number
---@field waitMs number

---@class memrecall.RootStatus
---@field scope 'project'|'user'
---@field layout string
---@field path string
---@field topics integer
---@field exists boolean

---@class memrecall.ProjectStatus
---@field root? string
---@field reason? string why there is no project
---@field roots memrecall.RootStatus[]
---@field skipped { path: string, reason: string }[]

---@class memrecall.Latency
---@field samples integer
---@field p50 number
---@field p90 number
---@field p99 number
---@field max number

---@class memrecall.Health
---@field state 'ok'|'degraded'
---@field reasons string[] what is less good than it should be

---@class memrecall.Status
---@field version string
---@field protocolVersion integer
---@field pid integer
---@field uptimeS number seconds
---@field connections integer
---@field sessions integer
---@field openTurns integer
---@field topics integer
---@field skipped table<string, integer>
---@field health? memrecall.Health
---@field configError? string why the configuration file is not in effect
---@field capabilities? { protocolVersion: integer, selector: string, layouts: string[], limits: table<string, integer> }
---@field selector { kind: 'none'|'openai'|'client' }
---@field counters table<string, integer>
---@field latency? memrecall.Latency
---@field project? memrecall.ProjectStatus
