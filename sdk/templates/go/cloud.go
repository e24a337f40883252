package main

// REPLACE THIS: the client of your cloud. Here it is that of `hostler-hosts`, machines for tests: a
// request is a line of JSON on a TCP connection, and so is the answer.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

const (
	answerMax  = 1 << 28
	step       = 100 * time.Millisecond
	connectMax = 1500 * time.Millisecond // a cancel is noticed within 2 s
)

// Cloud is where the machines are.
type Cloud struct {
	host, port string
	token      string // SECRET
}

// Machine is what the cloud says of one.
type Machine struct {
	ID        string            `json:"id"`
	Key       string            `json:"key"`
	State     string            `json:"state"`
	Address   string            `json:"address"`
	Port      uint16            `json:"port"`
	User      string            `json:"user"`
	CreatedMs int64             `json:"created_ms"`
	Tags      map[string]string `json:"tags"`
}

// Answer has what the operation answers with.
type Answer struct {
	OK       *bool           `json:"ok"`
	Error    string          `json:"error"`
	Message  string          `json:"message"`
	Machine  *Machine        `json:"machine"`
	Machines json.RawMessage `json:"machines"` // a list, or of "info" how many
}

// onlyMember reads the one text member of the object. Errors name the member, and show no credential.
func onlyMember(what, text, name string) (string, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &members) != nil || members == nil {
		return "", failure(invalid, "%s must be a JSON object", what)
	}
	for key := range members {
		if key != name {
			return "", failure(invalid, "%s: %.100q is unknown; needed: %s", what, key, name)
		}
	}
	var value string
	if json.Unmarshal(members[name], &value) != nil || value == "" || len(value) > 255 {
		return "", failure(invalid, "%s.%s must be a text of 1 to 255 bytes", what, name)
	}
	return value, nil
}

// newCloud reads "endpoint" of the config and "token" of the credentials.
func newCloud(config, credentials string) (*Cloud, error) {
	endpoint, err := onlyMember("config", config, "endpoint")
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(endpoint)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n == 0 || host == "" {
		return nil, failure(invalid, "config.endpoint must be ADDRESS:PORT, such as 127.0.0.1:4000")
	}
	token, err := onlyMember("credentials", credentials, "token")
	if err != nil {
		return nil, err
	}
	return &Cloud{host, port, token}, nil
}

// ask sends the request with the token, and waits for the answer until the deadline or a cancel of
// the call. A refusal is an error.
func (c *Cloud) ask(call Call, request map[string]any) (*Answer, error) {
	request["token"] = c.token
	line, err := json.Marshal(request)
	if err != nil {
		return nil, failure(internal, "the request cannot be written as JSON")
	}
	if err := call.goOn(); err != nil {
		return nil, err
	}
	connection, err := net.DialTimeout("tcp", net.JoinHostPort(c.host, c.port), call.atMost(connectMax))
	if err != nil {
		return nil, failure(transient, "%v", err)
	}
	defer connection.Close()
	answer, err := exchange(call, connection, append(line, '\n'))
	if err != nil {
		// From the first byte on the request may have been carried out.
		return nil, unknownOutcome(err)
	}
	return understand(answer)
}

func exchange(call Call, connection net.Conn, request []byte) ([]byte, error) {
	for len(request) > 0 {
		if err := call.goOn(); err != nil {
			return nil, err
		}
		_ = connection.SetDeadline(time.Now().Add(step))
		n, err := connection.Write(request)
		request = request[n:]
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, failure(transient, "write to the cloud: %v", err)
		}
	}
	var answer []byte
	part := make([]byte, 16384)
	for !bytes.HasSuffix(answer, []byte("\n")) {
		if err := call.goOn(); err != nil {
			return nil, err
		}
		_ = connection.SetDeadline(time.Now().Add(step))
		n, err := connection.Read(part)
		answer = append(answer, part[:n]...)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, failure(transient, "read from the cloud: %v", err)
		}
		if len(answer) > answerMax {
			return nil, failure(transient, "the answer of the cloud is too large")
		}
	}
	return answer, nil
}

func understand(line []byte) (*Answer, error) {
	var answer Answer
	if err := json.Unmarshal(line, &answer); err != nil || answer.OK == nil {
		return nil, unknownOutcome(failure(transient, `the cloud's answer cannot be read: a JSON object with "ok" is needed`))
	}
	if *answer.OK {
		return &answer, nil
	}
	status, known := map[string]status{"unauthorized": auth, "invalid": invalid, "not_found": notFound,
		"conflict": conflict, "limit": quota}[answer.Error]
	if !known {
		status = transient
	}
	return nil, &Failure{status: status, message: fmt.Sprintf("the cloud refused: %s", answer.Message), code: answer.Error}
}
