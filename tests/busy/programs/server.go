// SPDX-License-Identifier: Apache-2.0
package main

import (
	"compress/gzip"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"sort"
)

var word = regexp.MustCompile(`[a-z]+`)

func page(w http.ResponseWriter, r *http.Request) {
	lines := map[int]string{}
	for i := 0; i < 200; i++ {
		lines[i] = "a line of text"
	}
	text, _ := json.Marshal(lines)
	words := word.FindAllString(string(text), -1)
	sort.Strings(words)
	z := gzip.NewWriter(w)
	json.NewEncoder(z).Encode(words)
	z.Close()
}

func main() {
	http.HandleFunc("/", page)
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
